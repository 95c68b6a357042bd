import type { Sender } from "../sender.ts";

export const microsoft: Sender = {
  name: "microsoft",
  title: "Microsoft Graph",
  description: "Changes in mail, calendars, files and Teams",
  webhook: {
    signature: { scheme: "microsoft", secret: "GRAPH_CLIENT_STATE" },
    field_mapping: { value: "notifications" },
  },
  secrets: { GRAPH_CLIENT_STATE: "a text of your choice, which you give as clientState" },
  setup:
    "Create a subscription with the API, POST /v1.0/subscriptions, and give the URL as notificationUrl and the text as clientState.",
  sample: {
    value: [
      {
        subscriptionId: "7f105c7d-2dc5-4530-97cd-4e7ae6534c07",
        clientState: "the secret",
        changeType: "created",
        resource: "users/ada/messages/AAMk",
        subscriptionExpirationDateTime: "2023-11-20T11:00:00.0000000Z",
        tenantId: "84bd8158",
        resourceData: { "@odata.type": "#Microsoft.Graph.Message", id: "AAMk" },
      },
    ],
  },
};
