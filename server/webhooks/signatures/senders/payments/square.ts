/**
 * Square: the base64 HMAC-SHA256 of the notification URL and the body.
 * https://developer.squareup.com/docs/webhooks/step3validate
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const square: Scheme = hmacHeader({
  name: "x-square-hmacsha256-signature",
  encoding: "base64",
  before: ({ url }) => url,
  payloadId: (payload) => payload.event_id,
});
