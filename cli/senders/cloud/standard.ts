import type { Sender } from "../sender.ts";

export const standard: Sender = {
  name: "standard",
  title: "Standard Webhooks",
  description: "Any sender that follows the specification",
  webhook: {
    signature: { scheme: "standard", secret: "WEBHOOK_SECRET" },
    field_mapping: { type: "type", timestamp: { parameter: "time", default: null }, data: "data" },
  },
  secrets: { WEBHOOK_SECRET: "the secret of the endpoint, whsec_…, or the public key whpk_…" },
  setup: "In the sender's settings of webhooks, paste the URL as endpoint.",
  sample: {
    type: "order.created",
    timestamp: "2023-11-14T22:13:20.000000Z",
    data: { id: 1001, note: "größe" },
  },
  headers: { "webhook-id": "msg_1" },
};
