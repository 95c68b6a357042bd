/**
 * Meta (Facebook, Instagram, Messenger, WhatsApp): the HMAC-SHA256 of the body under the app secret. A payload may hold
 * several events and has no id of its own.
 * https://developers.facebook.com/docs/graph-api/webhooks/getting-started#validate-payloads
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const meta: Scheme = hmacHeader({ name: "x-hub-signature-256", prefix: "sha256=", encoding: "hex" });
