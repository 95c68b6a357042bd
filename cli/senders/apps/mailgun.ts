import type { Sender } from "../sender.ts";

export const mailgun: Sender = {
  name: "mailgun",
  title: "Mailgun",
  description: "Delivered, opened and failed mail",
  webhook: {
    signature: { scheme: "mailgun", secret: "MAILGUN_SIGNING_KEY" },
    respond: 200,
    field_mapping: {
      "event-data.event": "event",
      "event-data.recipient": "recipient",
      "event-data.id": "id",
      "event-data.message.headers.subject": { parameter: "subject", default: "" },
      "event-data.timestamp": { parameter: "time", default: null },
    },
  },
  secrets: { MAILGUN_SIGNING_KEY: "the HTTP webhook signing key" },
  setup: "Open Sending, Webhooks, Add webhook. Choose the event and paste the URL.",
  sample: {
    signature: {
      timestamp: "1700000000",
      token: "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0",
      signature: "d2271d12299f6592d9d44cd9d250f0704e4674c30d79d07c47a66f95ce71cf55",
    },
    "event-data": {
      event: "delivered",
      id: "CPgfbmQMTCKtHW6uIWtuVe",
      timestamp: 1700000000.12,
      recipient: "ada@example.com",
      message: { headers: { subject: "Größe", "message-id": "20231114@example.com" } },
    },
  },
};
