import type { Sender } from "../sender.ts";

export const eventgrid: Sender = {
  name: "eventgrid",
  title: "Azure Event Grid",
  description: "Events of Azure services",
  webhook: { handshake: "eventgrid", field_mapping: { payload: "events" } },
  secrets: {},
  setup:
    "In the Azure portal, open the topic, Event Subscription, choose the endpoint type Web Hook and the schema Event Grid, and paste the URL.",
  sample: {
    payload: [
      {
        id: "831e1650-001e-001b-66ab-eeb76e069631",
        topic: "/subscriptions/1/resourceGroups/shop",
        subject: "/blobServices/default/containers/orders/blobs/1001.json",
        eventType: "Microsoft.Storage.BlobCreated",
        eventTime: "2023-11-14T22:13:20Z",
        data: {
          api: "PutBlob",
          contentType: "application/json",
          url: "https://example.com/orders/1001.json",
        },
        dataVersion: "",
        metadataVersion: "1",
      },
    ],
  },
};
