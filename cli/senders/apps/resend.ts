import type { Sender } from "../sender.ts";

export const resend: Sender = {
  name: "resend",
  title: "Resend",
  description: "Delivered, opened and bounced mail",
  webhook: {
    signature: { scheme: "svix", secret: "RESEND_WEBHOOK_SECRET" },
    events: ["email.*"],
    field_mapping: {
      type: "type",
      "data.email_id": "email_id",
      "data.to": "to",
      "data.subject": { parameter: "subject", default: "" },
    },
  },
  secrets: { RESEND_WEBHOOK_SECRET: "the Signing Secret of the webhook, whsec_…" },
  setup: "Open Webhooks, Add Webhook. Paste the URL and choose the events.",
  sample: {
    type: "email.delivered",
    created_at: "2023-11-14T22:13:20.000Z",
    data: {
      email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
      from: "Acme <shop@example.com>",
      to: ["ada@example.com"],
      subject: "Größe",
      created_at: "2023-11-14T22:13:19.000Z",
    },
  },
  headers: { "svix-id": "msg_3c" },
};
