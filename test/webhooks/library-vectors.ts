/**
 * Requests whose signatures the senders' own libraries produced, or verified. The libraries of
 * HubSpot and Square are too large to install for a test: 56 and 80 MB.
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
];
