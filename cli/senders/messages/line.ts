import type { Sender } from "../sender.ts";

export const line: Sender = {
  name: "line",
  title: "LINE",
  description: "Messages to a LINE bot",
  webhook: {
    signature: { scheme: "line", secret: "LINE_CHANNEL_SECRET" },
    respond: 200,
    field_mapping: { destination: "destination", events: "events" },
  },
  secrets: { LINE_CHANNEL_SECRET: "the Channel secret under Basic settings" },
  setup:
    "In the LINE Developers Console, open the channel, Messaging API, and paste the URL as Webhook URL. Switch Use webhook on.",
  sample: {
    destination: "U0123456789abcdef",
    events: [
      {
        type: "message",
        message: { type: "text", id: "14353798921116", text: "größe?" },
        timestamp: 1700000000000,
        source: { type: "user", userId: "U80696558e1aa831" },
        replyToken: "757913772c4646b784d4b7ce46d12671",
        mode: "active",
        webhookEventId: "01FZ74A0TDDPYRVKNK77XKC3ZR",
        deliveryContext: { isRedelivery: false },
      },
    ],
  },
};
