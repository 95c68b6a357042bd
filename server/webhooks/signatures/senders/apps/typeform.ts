/**
 * Typeform: the base64 HMAC-SHA256 of the body.
 * https://www.typeform.com/developers/webhooks/secure-your-webhooks/
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const typeform: Scheme = hmacHeader({
  name: "typeform-signature",
  prefix: "sha256=",
  encoding: "base64",
  payloadId: (payload) => payload.event_id,
});
