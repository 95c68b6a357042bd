import type { Sender } from "../sender.ts";

export const gitlab: Sender = {
  name: "gitlab",
  title: "GitLab",
  description: "Pushes, issues and merge requests",
  webhook: {
    signature: { scheme: "gitlab", secret: "GITLAB_TOKEN" },
    events: ["merge_request"],
    field_mapping: {
      object_kind: "event",
      "object_attributes.action": { parameter: "action", default: "" },
      "project.path_with_namespace": "project",
      "object_attributes.iid": { parameter: "number", default: null },
      "object_attributes.title": { parameter: "title", default: "" },
      "user.username": { parameter: "user", default: "" },
    },
  },
  secrets: { GITLAB_TOKEN: "the text that you enter as Secret token" },
  setup: "In the project or group, open Settings, Webhooks. Paste the URL and choose the triggers.",
  sample: {
    object_kind: "merge_request",
    event_type: "merge_request",
    user: { id: 1, name: "Ada", username: "ada" },
    project: { id: 15, name: "shop", path_with_namespace: "acme/shop" },
    object_attributes: {
      id: 99,
      iid: 7,
      title: "Round prices",
      action: "open",
      state: "opened",
      source_branch: "round",
      target_branch: "main",
    },
    labels: [],
  },
  headers: {
    "x-gitlab-event": "Merge Request Hook",
    "idempotency-key": "f5e57165-9da1-4a25-bbb8-2c4ac2bfb8a5",
  },
};
