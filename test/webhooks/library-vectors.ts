/**
 * Requests whose signatures the senders' own libraries produced, or verified. The libraries are too large to install for a
 * test: from 3 to 50 MB each.
 */
import type { SignatureScheme } from "../../project/definition.ts";

export interface LibraryVector {
  library: string;
  scheme: SignatureScheme;
  secret: string;
  /** Unix time of the request. */
  seconds: number;
  url: string;
  headers: Record<string, string>;
  body: string;
}

export const libraryVectors: LibraryVector[] = [
  {
    library: "twilio 6.2.0, form",
    scheme: "twilio",
    secret: "12345",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook?foo=1&bar=2",
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      "x-twilio-signature": "7yhwTbjjoRmtrvurC95OGoUtB7A=",
    },
    body: "CallSid=CA1234567890ABCDE&Caller=%2B12349013030&Digits=1234&Body=gr%C3%B6%C3%9Fe+%26+1%3D1&To=b&To=a&To=b",
  },
  {
    library: "twilio 6.2.0, form signed with the port",
    scheme: "twilio",
    secret: "12345",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook?foo=1&bar=2",
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      "x-twilio-signature": "c3fvyRBMhwdD+b0igZMRgrkh0Cg=",
    },
    body: "CallSid=CA1234567890ABCDE&Caller=%2B12349013030&Digits=1234&Body=gr%C3%B6%C3%9Fe+%26+1%3D1&To=b&To=a&To=b",
  },
  {
    library: "twilio 6.2.0, JSON",
    scheme: "twilio",
    secret: "12345",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook?foo=1&bar=2&bodySHA256=1e0ea14a6cfdb44e1b3c32a20909fd936c42806c9d9e9c652d3f4b06c8ac9d40",
    headers: {
      "content-type": "application/json",
      "x-twilio-signature": "ozdZh/KVJWmAzdD6x9SmsrG8GjQ=",
    },
    body: '{"a":"größe"}',
  },
  {
    library: "@line/bot-sdk 11.2.0",
    scheme: "line",
    secret: "line channel secret",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook",
    headers: {
      "x-line-signature": "qgyuW4HV3Lx/5rDQXCrCjByMkUmSQsx6G8CFH0evS/0=",
    },
    body: '{"destination":"U1","events":[{"type":"message","message":{"type":"text","text":"größe"}}]}',
  },
  {
    library: "@hubspot/api-client 14.0.1",
    scheme: "hubspot",
    secret: "hub client secret",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook?to=a%3Ab%20c",
    headers: {
      "x-hubspot-signature-v3": "LZaiahezr2hE7+nEvqusseZiV+Dcx5VmJ7/ttqnvlQQ=",
      "x-hubspot-request-timestamp": "1700000000000",
    },
    body: '[{"eventId":1,"subscriptionType":"contact.creation","propertyValue":"größe"}]',
  },
  {
    library: "@paddle/paddle-node-sdk 3.10.0",
    scheme: "paddle",
    secret: "pdl_ntfset_01_secret",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook",
    headers: {
      "paddle-signature": "ts=1700000000;h1=aa57e649294f2b4cb7c3fd03c5a905e04f70683f466631d12d0eaf02bdfd4fa9",
    },
    body: '{"event_id":"evt_01hv8x","event_type":"transaction.completed","notification_id":"ntf_01hv8x","data":{"id":"txn_1","note":"größe"}}',
  },
  {
    library: "square 46.0.0",
    scheme: "square",
    secret: "square-signature-key",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook",
    headers: {
      "x-square-hmacsha256-signature": "LfIP3HhVUhK9n59HzbJb5DHvMpBXgoiHXmHuxpgcTzc=",
    },
    body: '{"merchant_id":"M1","type":"payment.updated","event_id":"6a8f5f28","data":{"note":"größe"}}',
  },
  {
    library: "@linear/sdk 98.0.0",
    scheme: "linear",
    secret: "lin_wh_secret",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook",
    headers: {
      "linear-signature": "07ac2dac05df4407d67522a75dff299fc5d4701d17bf9a4dca972a73ecf81495",
      "linear-delivery": "234d1a4e-b617-4388-90fe-adc3633d6b72",
    },
    body: '{"action":"create","type":"Issue","data":{"title":"größe"},"webhookTimestamp":1700000000000}',
  },
  {
    library: "svix 2.5.0",
    scheme: "svix",
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    seconds: 1700000000,
    url: "https://example.com/webhook/org_1/agent/a/hook",
    headers: {
      "svix-id": "msg_2b",
      "svix-timestamp": "1700000000",
      "svix-signature": "v1,ii4IzLdQGgY4Z7hxtTCalbpBjcxEIOaZrLNdqH5vBlU=",
    },
    body: '{"type":"user.created","data":{"name":"größe"}}',
  },
];
