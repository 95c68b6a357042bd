import type { Sender } from "../sender.ts";

export const lemonsqueezy: Sender = {
  name: "lemonsqueezy",
  title: "Lemon Squeezy",
  description: "Orders and subscriptions",
  webhook: {
    signature: { scheme: "lemonsqueezy", secret: "LEMONSQUEEZY_SECRET" },
    field_mapping: {
      "meta.event_name": "event",
      "data.id": "id",
      "data.attributes.status": { parameter: "status", default: "" },
      "data.attributes.user_email": { parameter: "email", default: "" },
      "data.attributes.total": { parameter: "total", default: null },
    },
  },
  secrets: { LEMONSQUEEZY_SECRET: "the text that you enter as Signing secret" },
  setup: "Open Settings, Webhooks, and click +. Paste the URL as Callback URL and choose the events.",
  sample: {
    meta: { event_name: "order_created", custom_data: { order: "1001" }, test_mode: true },
    data: {
      type: "orders",
      id: "1",
      attributes: {
        store_id: 1,
        identifier: "89b36d62",
        user_name: "Ada",
        user_email: "ada@example.com",
        currency: "EUR",
        total: 4200,
        status: "paid",
      },
    },
  },
  headers: { "x-event-name": "order_created" },
};
