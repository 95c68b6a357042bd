import type { Sender } from "../sender.ts";

export const stripe: Sender = {
  name: "stripe",
  title: "Stripe",
  description: "Payments, subscriptions and invoices",
  webhook: {
    signature: { scheme: "stripe", secret: "STRIPE_WEBHOOK_SECRET" },
    events: ["checkout.session.completed", "invoice.*"],
    field_mapping: {
      id: "event_id",
      type: "type",
      "data.object.id": "object_id",
      "data.object.customer": { parameter: "customer", default: null },
      "data.object.amount_total": { parameter: "amount", default: null },
      "data.object.currency": { parameter: "currency", default: "" },
    },
  },
  secrets: { STRIPE_WEBHOOK_SECRET: "the Signing secret of the endpoint, whsec_…" },
  setup: "In the Dashboard, open Developers, Webhooks, Add destination. Paste the URL and choose the events.",
  sample: {
    id: "evt_1OCzAbC",
    object: "event",
    api_version: "2024-06-20",
    created: 1700000000,
    type: "checkout.session.completed",
    livemode: false,
    data: {
      object: {
        id: "cs_test_a1",
        object: "checkout.session",
        amount_total: 4200,
        currency: "eur",
        customer: "cus_N1",
        payment_status: "paid",
        metadata: { order: "1001" },
      },
    },
  },
};
