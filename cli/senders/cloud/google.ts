import type { Sender } from "../sender.ts";

export const google: Sender = {
  name: "google",
  title: "Google push notifications",
  description: "Changes in Drive and Calendar",
  webhook: {
    signature: { scheme: "google", secret: "GOOGLE_CHANNEL_TOKEN" },
    events: ["add", "change", "exists", "not_exists", "remove", "trash", "untrash", "update"],
    field_mapping: {
      "$header.x-goog-resource-state": "state",
      "$header.x-goog-resource-id": "resource_id",
      "$header.x-goog-channel-id": "channel",
      "$header.x-goog-changed": { parameter: "changed", default: "" },
    },
  },
  secrets: { GOOGLE_CHANNEL_TOKEN: "a text of your choice, which you give as token" },
  setup: "Call the watch method of the API with the URL as address and the text as token.",
  sample: {},
  headers: {
    "x-goog-channel-id": "4ba78bf0-6a47-11e2-bcfd-0800200c9a66",
    "x-goog-message-number": "10",
    "x-goog-resource-id": "ret08u3rv24htgh289g",
    "x-goog-resource-state": "update",
    "x-goog-changed": "content,properties",
  },
};
