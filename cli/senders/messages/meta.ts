import type { Sender } from "../sender.ts";

export const meta: Sender = {
  name: "meta",
  title: "Meta",
  description: "WhatsApp, Messenger, Instagram and Facebook",
  webhook: {
    signature: { scheme: "meta", secret: "META_APP_SECRET" },
    handshake: { kind: "meta", secret: "META_VERIFY_TOKEN" },
    respond: 200,
    field_mapping: { object: "object", entry: "entry" },
  },
  secrets: {
    META_APP_SECRET: "the App secret under App settings, Basic",
    META_VERIFY_TOKEN: "a text of your choice, which you enter as Verify token",
  },
  setup:
    "Set both secrets first. In the app's dashboard, open Webhooks, paste the URL as Callback URL and enter the verify token.",
  sample: {
    object: "whatsapp_business_account",
    entry: [
      {
        id: "WHATSAPP_BUSINESS_ACCOUNT_ID",
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: "15550100", phone_number_id: "1" },
              contacts: [{ profile: { name: "Ada" }, wa_id: "16315551181" }],
              messages: [
                {
                  from: "16315551181",
                  id: "wamid.HBgL",
                  timestamp: "1700000000",
                  type: "text",
                  text: { body: "größe?" },
                },
              ],
            },
          },
        ],
      },
    ],
  },
};
