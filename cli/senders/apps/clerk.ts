import type { Sender } from "../sender.ts";

export const clerk: Sender = {
  name: "clerk",
  title: "Clerk",
  description: "Users, sessions and organizations",
  webhook: {
    signature: { scheme: "svix", secret: "CLERK_WEBHOOK_SECRET" },
    events: ["user.*"],
    field_mapping: {
      type: "type",
      "data.id": "id",
      "data.email_addresses[0].email_address": { parameter: "email", default: null },
      "data.first_name": { parameter: "first_name", default: null },
    },
  },
  secrets: { CLERK_WEBHOOK_SECRET: "the Signing Secret of the endpoint, whsec_…" },
  setup: "In the Dashboard, open Configure, Webhooks, Add Endpoint. Paste the URL and choose the events.",
  sample: {
    data: {
      id: "user_29w83sxmDNGwOuEthce5gg56FcC",
      object: "user",
      first_name: "Ada",
      last_name: "Größe",
      email_addresses: [{ id: "idn_1", email_address: "ada@example.com" }],
      created_at: 1700000000000,
    },
    object: "event",
    type: "user.created",
    instance_id: "ins_123",
  },
  headers: { "svix-id": "msg_2b" },
};
