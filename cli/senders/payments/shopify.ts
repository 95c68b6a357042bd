import type { Sender } from "../sender.ts";

export const shopify: Sender = {
  name: "shopify",
  title: "Shopify",
  description: "Orders, products and customers",
  webhook: {
    signature: { scheme: "shopify", secret: "SHOPIFY_SECRET" },
    field_mapping: {
      "$header.x-shopify-topic": "topic",
      "$header.x-shopify-shop-domain": "shop",
      id: "id",
      email: { parameter: "email", default: null },
      total_price: { parameter: "total", default: "" },
      currency: { parameter: "currency", default: "" },
    },
  },
  secrets: { SHOPIFY_SECRET: "the Client secret of the app" },
  setup:
    "In the admin, open Settings, Notifications, Webhooks, or subscribe in the app's configuration. Paste the URL and choose JSON.",
  sample: {
    id: 820982911946,
    admin_graphql_api_id: "gid://shopify/Order/820982911946",
    email: "ada@example.com",
    currency: "EUR",
    total_price: "42.00",
    financial_status: "paid",
    line_items: [{ id: 866550311766, title: "Teekanne, größe L", quantity: 1, price: "42.00" }],
  },
  headers: {
    "x-shopify-topic": "orders/create",
    "x-shopify-shop-domain": "acme.myshopify.com",
    "x-shopify-webhook-id": "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
  },
};
