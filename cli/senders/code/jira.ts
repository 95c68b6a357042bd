import type { Sender } from "../sender.ts";

export const jira: Sender = {
  name: "jira",
  title: "Jira Cloud",
  description: "Issues and comments",
  webhook: {
    signature: { scheme: "jira", secret: "JIRA_SECRET" },
    field_mapping: {
      webhookEvent: "event",
      "issue.key": "key",
      "issue.fields.summary": { parameter: "summary", default: "" },
      "issue.fields.status.name": { parameter: "status", default: "" },
      "user.displayName": { parameter: "user", default: "" },
    },
  },
  secrets: { JIRA_SECRET: "the text that you enter as Secret" },
  setup:
    "As an administrator, open Settings, System, WebHooks, Create a WebHook. Paste the URL, enter the secret and choose the events.",
  sample: {
    timestamp: 1700000000000,
    webhookEvent: "jira:issue_updated",
    issue_event_type_name: "issue_generic",
    user: { accountId: "557058:1", displayName: "Ada" },
    issue: {
      id: "10002",
      key: "SHOP-12",
      fields: { summary: "Round prices", status: { name: "In Progress" }, issuetype: { name: "Task" } },
    },
    changelog: { items: [{ field: "status", fromString: "To Do", toString: "In Progress" }] },
  },
  headers: { "x-atlassian-webhook-identifier": "f5e57165-9da1" },
};
