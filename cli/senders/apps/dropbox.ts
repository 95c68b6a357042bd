import type { Sender } from "../sender.ts";

export const dropbox: Sender = {
  name: "dropbox",
  title: "Dropbox",
  description: "Changed files",
  webhook: {
    signature: { scheme: "dropbox", secret: "DROPBOX_APP_SECRET" },
    field_mapping: { "list_folder.accounts": "accounts" },
  },
  secrets: { DROPBOX_APP_SECRET: "the App secret" },
  setup: "In the App Console, open the app, Settings, Webhooks, and paste the URL as Webhook URI.",
  sample: {
    list_folder: { accounts: ["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"] },
    delta: { users: [12345678] },
  },
};
