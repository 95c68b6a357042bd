import type { Sender } from "../sender.ts";

export const zoom: Sender = {
  name: "zoom",
  title: "Zoom",
  description: "Meetings, recordings and webinars",
  webhook: {
    signature: { scheme: "zoom", secret: "ZOOM_SECRET_TOKEN" },
    field_mapping: {
      event: "event",
      "payload.account_id": { parameter: "account", default: "" },
      "payload.object.id": { parameter: "id", default: null },
      "payload.object.topic": { parameter: "topic", default: "" },
    },
  },
  secrets: { ZOOM_SECRET_TOKEN: "the Secret Token of the app" },
  setup:
    "Set the secret first. In the App Marketplace, open the app, Features, Event Subscriptions, paste the URL as Event notification endpoint URL and click Validate.",
  sample: {
    event: "meeting.started",
    event_ts: 1700000000000,
    payload: {
      account_id: "AAAAAABBBB",
      object: {
        id: "1234567890",
        uuid: "4444AAAiAAAAAiAiAiiAii==",
        host_id: "x1yCzABCDEfg23HiJKl4mN",
        topic: "Weekly größe",
        type: 2,
        start_time: "2023-11-14T22:13:20Z",
        timezone: "UTC",
      },
    },
  },
};
