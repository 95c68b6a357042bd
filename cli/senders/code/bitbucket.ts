import type { Sender } from "../sender.ts";

export const bitbucket: Sender = {
  name: "bitbucket",
  title: "Bitbucket",
  description: "Pushes and pull requests",
  webhook: {
    signature: { scheme: "bitbucket", secret: "BITBUCKET_SECRET" },
    field_mapping: {
      "$header.x-event-key": "event",
      "repository.full_name": "repository",
      "actor.display_name": { parameter: "actor", default: "" },
      "push.changes[0].new.name": { parameter: "branch", default: "" },
      "push.changes[0].new.target.hash": { parameter: "commit", default: "" },
    },
  },
  secrets: { BITBUCKET_SECRET: "the text that you enter as Secret" },
  setup:
    "In the repository, open Repository settings, Webhooks, Add webhook. Paste the URL and choose the triggers.",
  sample: {
    actor: { type: "user", display_name: "Ada" },
    repository: { type: "repository", full_name: "acme/shop", name: "shop" },
    push: {
      changes: [
        {
          "new": {
            type: "branch",
            name: "main",
            target: {
              type: "commit",
              hash: "709d658dc5b6d6afcd46049c2f332ee3f515a67d",
              message: "Round prices\n",
            },
          },
          created: false,
          closed: false,
        },
      ],
    },
  },
  headers: { "x-event-key": "repo:push", "x-request-uuid": "7b2d6a4e-3f4c-4e7e-8a3b-0b7b2d9d8d11" },
};
