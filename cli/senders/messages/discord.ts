import type { Sender } from "../sender.ts";

export const discord: Sender = {
  name: "discord",
  title: "Discord",
  description: "Interactions and webhook events",
  webhook: {
    signature: { scheme: "discord", secret: "DISCORD_PUBLIC_KEY" },
    field_mapping: {
      type: "type",
      "event.type": { parameter: "event", default: "" },
      "event.timestamp": { parameter: "time", default: "" },
      "event.data": { parameter: "data", default: null },
    },
  },
  secrets: { DISCORD_PUBLIC_KEY: "the Public Key under General Information" },
  setup:
    "Set the secret first. In the Developer Portal, open the application, Webhooks, and paste the URL as Endpoint URL.",
  sample: {
    version: 1,
    application_id: "1234560123453231555",
    type: 1,
    event: {
      type: "APPLICATION_AUTHORIZED",
      timestamp: "2023-11-14T22:13:20.000Z",
      data: {
        integration_type: 1,
        scopes: ["applications.commands"],
        user: { id: "80351110224678912", username: "ada" },
      },
    },
  },
};
