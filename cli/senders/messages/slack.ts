import type { Sender } from "../sender.ts";

export const slack: Sender = {
  name: "slack",
  title: "Slack",
  description: "Events, slash commands and buttons",
  webhook: {
    signature: { scheme: "slack", secret: "SLACK_SIGNING_SECRET" },
    respond: 200,
    events: ["app_mention", "message"],
    field_mapping: {
      "event.type": "type",
      "event.user": { parameter: "user", default: "" },
      "event.channel": "channel",
      "event.text": { parameter: "text", default: "" },
      team_id: "team",
    },
  },
  secrets: { SLACK_SIGNING_SECRET: "the Signing Secret under Basic Information" },
  setup:
    "Set the secret first. In the app's settings, open Event Subscriptions and paste the URL as Request URL.",
  sample: {
    token: "unused",
    team_id: "T1DC2JH3J",
    api_app_id: "A0PNCHHK2",
    type: "event_callback",
    event_id: "Ev0PV52K21",
    event_time: 1700000000,
    event: {
      type: "app_mention",
      user: "U2CERLKJA",
      text: "<@U0LAN0Z89> größe?",
      ts: "1700000000.000100",
      channel: "C0LAN2Q65",
    },
    authorizations: [{ team_id: "T1DC2JH3J", is_bot: true }],
  },
};
