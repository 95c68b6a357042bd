import type { Sender } from "../sender.ts";

export const svix: Sender = {
  name: "svix",
  title: "Svix",
  description: "Senders that use Svix",
  webhook: {
    signature: { scheme: "svix", secret: "SVIX_WEBHOOK_SECRET" },
    field_mapping: { type: { parameter: "type", default: "" }, data: "data" },
  },
  secrets: { SVIX_WEBHOOK_SECRET: "the Signing Secret of the endpoint, whsec_…" },
  setup: "In the sender's webhook portal, click Add Endpoint, paste the URL and choose the events.",
  sample: { type: "invoice.paid", timestamp: "2023-11-14T22:13:20.000Z", data: { id: 1001, note: "größe" } },
  headers: { "svix-id": "msg_2" },
};
