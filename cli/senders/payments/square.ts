import type { Sender } from "../sender.ts";

export const square: Sender = {
  name: "square",
  title: "Square",
  description: "Payments, orders and bookings",
  webhook: {
    signature: { scheme: "square", secret: "SQUARE_SIGNATURE_KEY" },
    field_mapping: {
      type: "type",
      event_id: "event_id",
      merchant_id: "merchant",
      "data.id": "id",
      "data.object.payment.status": { parameter: "status", default: "" },
      "data.object.payment.amount_money.amount": { parameter: "amount", default: null },
    },
  },
  secrets: { SQUARE_SIGNATURE_KEY: "the Signature key of the subscription" },
  setup:
    "In the Developer Console, open the application, Webhooks, Subscriptions. Paste the URL as Notification URL and choose the events.",
  sample: {
    merchant_id: "6SSW7HV8K2ST5",
    type: "payment.updated",
    event_id: "6a8f5f28-54a1-4eb0-a98a-3111513fd4fc",
    created_at: "2023-11-14T22:13:20.000Z",
    data: {
      type: "payment",
      id: "hYy9pRFVxpDsO1FB05SunFWUe9JZY",
      object: {
        payment: {
          id: "hYy9pRFVxpDsO1FB05SunFWUe9JZY",
          status: "COMPLETED",
          amount_money: { amount: 4200, currency: "USD" },
        },
      },
    },
  },
};
