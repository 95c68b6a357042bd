import type { Sender } from "../sender.ts";

export const hubspot: Sender = {
  name: "hubspot",
  title: "HubSpot",
  description: "Contacts, companies and deals",
  webhook: {
    signature: { scheme: "hubspot", secret: "HUBSPOT_CLIENT_SECRET" },
    field_mapping: { payload: "events" },
  },
  secrets: { HUBSPOT_CLIENT_SECRET: "the Client secret of the app" },
  setup:
    "In the app, open Webhooks and paste the URL as Target URL. Create the subscriptions and activate them.",
  sample: {
    payload: [
      {
        eventId: 100,
        subscriptionId: 200,
        portalId: 62515,
        occurredAt: 1700000000000,
        subscriptionType: "contact.propertyChange",
        attemptNumber: 0,
        objectId: 123,
        propertyName: "lastname",
        propertyValue: "Größe",
        changeSource: "CRM",
      },
    ],
  },
};
