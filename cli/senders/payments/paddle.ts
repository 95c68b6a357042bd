import type { Sender } from "../sender.ts";

export const paddle: Sender = {
  name: "paddle",
  title: "Paddle Billing",
  description: "Transactions and subscriptions",
  webhook: {
    signature: { scheme: "paddle", secret: "PADDLE_SECRET" },
    field_mapping: {
      event_type: "type",
      event_id: "event_id",
      "data.id": "id",
      "data.status": { parameter: "status", default: "" },
      "data.customer_id": { parameter: "customer", default: null },
    },
  },
  secrets: { PADDLE_SECRET: "the Secret key of the notification destination" },
  setup: "Open Developer Tools, Notifications, New destination. Paste the URL and choose the events.",
  sample: {
    event_id: "evt_01hv8x29kz0t586xy6zn1a62ny",
    event_type: "transaction.completed",
    occurred_at: "2023-11-14T22:13:20.000Z",
    notification_id: "ntf_01hv8x2axwdf3dgyb9j6rwx4y9",
    data: {
      id: "txn_01hv8wptq8987qeep44cyrewp9",
      status: "completed",
      customer_id: "ctm_01hv6y1jedq4p1n0yqn5ba3ky4",
      currency_code: "EUR",
      details: { totals: { total: "4200" } },
    },
  },
};
