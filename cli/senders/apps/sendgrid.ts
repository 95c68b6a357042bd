import type { Sender } from "../sender.ts";

export const sendgrid: Sender = {
  name: "sendgrid",
  title: "SendGrid",
  description: "Delivered, opened and bounced mail",
  webhook: {
    signature: { scheme: "sendgrid", secret: "SENDGRID_VERIFICATION_KEY" },
    field_mapping: { payload: "events" },
  },
  secrets: { SENDGRID_VERIFICATION_KEY: "the Verification Key" },
  setup:
    "Open Settings, Mail Settings, Event Webhook. Paste the URL as Post URL, switch Signature Verification on and copy the key.",
  sample: {
    payload: [
      {
        email: "ada@example.com",
        timestamp: 1700000000,
        event: "delivered",
        sg_event_id: "ZGVsaXZlcmVk",
        sg_message_id: "14c5d75ce93.dfd.64b469",
        response: "250 OK",
        category: ["größe"],
      },
    ],
  },
};
