import type { Sender } from "../sender.ts";

export const asana: Sender = {
  name: "asana",
  title: "Asana",
  description: "Tasks and projects",
  webhook: {
    signature: { scheme: "asana", secret: "ASANA_HOOK_SECRET" },
    field_mapping: { events: "events" },
  },
  secrets: { ASANA_HOOK_SECRET: "the X-Hook-Secret in the response to the creation of the webhook" },
  setup:
    "Create the webhook with the API, POST /api/1.0/webhooks, and give the URL as target. Then set the secret.",
  sample: {
    events: [
      {
        user: { gid: "1201", resource_type: "user" },
        created_at: "2023-11-14T22:13:20.000Z",
        action: "changed",
        resource: { gid: "1202", resource_type: "task", name: "Round prices" },
        parent: null,
        change: { field: "name", action: "changed" },
      },
    ],
  },
};
