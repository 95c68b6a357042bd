/**
 * Linear: the HMAC-SHA256 of the body. The time is `webhookTimestamp` in the body, in milliseconds.
 * https://linear.app/developers/webhooks#securing-webhooks
 */
import { hmacHeader } from "../../hmac-header.ts";
import { checkMilliseconds, header, parsedObject } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

export const linear: Scheme = hmacHeader({
  name: "linear-signature",
  encoding: "hex",
  confirm: ({ body, nowSeconds }) =>
    checkMilliseconds(parsedObject(body)?.webhookTimestamp, "webhookTimestamp", nowSeconds),
  headerId: (headers) => header(headers, "linear-delivery"),
});
