import type { Sender } from "../sender.ts";

export const linear: Sender = {
  name: "linear",
  title: "Linear",
  description: "Issues, comments and projects",
  webhook: {
    signature: { scheme: "linear", secret: "LINEAR_SECRET" },
    events: ["Issue"],
    field_mapping: {
      type: "type",
      action: "action",
      "data.identifier": { parameter: "identifier", default: "" },
      "data.title": { parameter: "title", default: "" },
      url: { parameter: "url", default: "" },
    },
  },
  secrets: { LINEAR_SECRET: "the Signing secret of the webhook" },
  setup: "Open Settings, API, New webhook. Paste the URL and choose the data changes.",
  sample: {
    action: "create",
    type: "Issue",
    createdAt: "2023-11-14T22:13:20.000Z",
    data: {
      id: "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9",
      identifier: "SHO-12",
      title: "Round prices",
      priority: 2,
      team: { key: "SHO" },
    },
    url: "https://linear.app/acme/issue/SHO-12",
    organizationId: "9f1b",
    webhookTimestamp: 1700000000000,
    webhookId: "000042e3",
  },
  headers: { "linear-delivery": "234d1a4e-b617-4388-90fe-adc3633d6b72", "linear-event": "Issue" },
};
