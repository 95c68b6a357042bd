/**
 * GitHub: `x-hub-signature-256` is `sha256=` and the hex HMAC-SHA256 of the body. The signature covers neither a time nor
 * `x-github-delivery`, so a captured request can be replayed with another delivery id.
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 */
import { hmacHeader } from "../../hmac-header.ts";
import { header } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";

export const github: Scheme = hmacHeader({
  name: "x-hub-signature-256",
  prefix: "sha256=",
  encoding: "hex",
  headerId: (headers) => header(headers, "x-github-delivery"),
});
