/**
 * Asana: the HMAC-SHA256 of the body under the secret that the handshake and the response to the creation of the webhook
 * carry as `X-Hook-Secret`. A request has no id.
 * https://developers.asana.com/docs/webhooks-guide#security
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const asana: Scheme = hmacHeader({ name: "x-hook-signature", encoding: "hex" });
