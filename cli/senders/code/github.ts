import type { Sender } from "../sender.ts";

export const github: Sender = {
  name: "github",
  title: "GitHub",
  description: "Pushes, issues and pull requests",
  webhook: {
    signature: { scheme: "github", secret: "GITHUB_SECRET" },
    events: ["issues"],
    field_mapping: {
      "$header.x-github-event": "event",
      action: { parameter: "action", default: "" },
      "repository.full_name": "repository",
      "sender.login": "sender",
      "issue.number": { parameter: "number", default: null },
      "issue.title": { parameter: "title", default: "" },
    },
  },
  secrets: { GITHUB_SECRET: "the text that you enter as Secret" },
  setup:
    "In the repository or organization, open Settings, Webhooks, Add webhook. Paste the URL as Payload URL, choose application/json and the events.",
  sample: {
    action: "opened",
    issue: {
      id: 2101994,
      number: 42,
      title: "Orders fail with größere Mengen",
      state: "open",
      user: { login: "ada", type: "User" },
      labels: [{ name: "bug" }],
      html_url: "https://github.com/acme/shop/issues/42",
    },
    repository: { id: 186853, name: "shop", full_name: "acme/shop", private: false },
    sender: { login: "ada", type: "User" },
  },
  headers: { "x-github-event": "issues", "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958" },
};
