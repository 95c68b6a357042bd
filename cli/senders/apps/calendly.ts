import type { Sender } from "../sender.ts";

export const calendly: Sender = {
  name: "calendly",
  title: "Calendly",
  description: "Booked and cancelled meetings",
  webhook: {
    signature: { scheme: "calendly", secret: "CALENDLY_SIGNING_KEY" },
    field_mapping: {
      event: "event",
      "payload.name": "name",
      "payload.email": "email",
      "payload.scheduled_event.start_time": { parameter: "start", default: null },
      "payload.scheduled_event.name": { parameter: "meeting", default: "" },
    },
  },
  secrets: { CALENDLY_SIGNING_KEY: "the signing_key that you choose when you create the subscription" },
  setup:
    "Create the subscription with the API, POST /webhook_subscriptions, and give the URL as url and a signing_key.",
  sample: {
    event: "invitee.created",
    created_at: "2023-11-14T22:13:20.000000Z",
    created_by: "https://api.calendly.com/users/A",
    payload: {
      uri: "https://api.calendly.com/scheduled_events/G/invitees/A",
      name: "Ada",
      email: "ada@example.com",
      status: "active",
      timezone: "Europe/Berlin",
      scheduled_event: {
        name: "30 minutes",
        start_time: "2023-11-20T10:00:00.000000Z",
        end_time: "2023-11-20T10:30:00.000000Z",
      },
    },
  },
};
