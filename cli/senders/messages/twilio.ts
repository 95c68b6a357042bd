import type { Sender } from "../sender.ts";

export const twilio: Sender = {
  name: "twilio",
  title: "Twilio",
  description: "Text messages and calls",
  webhook: {
    signature: { scheme: "twilio", secret: "TWILIO_AUTH_TOKEN" },
    respond: 200,
    field_mapping: {
      From: "sender",
      To: "recipient",
      Body: { parameter: "text", default: "" },
      MessageSid: { parameter: "message_id", default: null },
    },
  },
  secrets: { TWILIO_AUTH_TOKEN: "the Auth Token of the account" },
  setup: "In the Console, open the phone number and paste the URL under A message comes in, with HTTP POST.",
  sample: {
    ToCountry: "US",
    SmsMessageSid: "SM1f0e8ae6ade43cb3c0ce4525424e404f",
    MessageSid: "SM1f0e8ae6ade43cb3c0ce4525424e404f",
    AccountSid: "AC0123456789",
    From: "+14155550100",
    To: "+14155550199",
    Body: "größe & 1=1?",
    NumSegments: "1",
    SmsStatus: "received",
    NumMedia: "0",
  },
};
