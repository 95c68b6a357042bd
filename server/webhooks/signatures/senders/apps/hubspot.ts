/**
 * HubSpot, version 3: the base64 HMAC-SHA256 of the method, the URL, the body and `x-hubspot-request-timestamp`, which is in
 * milliseconds. Some percent-encoded characters of the URL are signed decoded. A payload is an array of events.
 * https://developers.hubspot.com/docs/api/webhooks/validating-requests
 */
import { hmacHeader } from "../../hmac-header.ts";
import { checkMilliseconds, header } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

const timeName = "x-hubspot-request-timestamp";
const decoded: Readonly<Record<string, string>> = {
  "%3A": ":",
  "%2F": "/",
  "%3F": "?",
  "%40": "@",
  "%21": "!",
  "%24": "$",
  "%27": "'",
  "%28": "(",
  "%29": ")",
  "%2A": "*",
  "%2C": ",",
  "%3B": ";",
};

export const hubspot: Scheme = hmacHeader({
  name: "x-hubspot-signature-v3",
  encoding: "base64",
  before: ({ url }) => `POST${url.replace(/%[0-9A-F]{2}/gi, (code) => decoded[code.toUpperCase()] ?? code)}`,
  after: ({ headers }) => header(headers, timeName) ?? "",
  confirm({ headers, nowSeconds }) {
    const text = header(headers, timeName);
    return checkMilliseconds(text === null ? undefined : Number(text), timeName, nowSeconds);
  },
});
