/**
 * LINE: the base64 HMAC-SHA256 of the body under the channel secret. A payload may hold several events.
 * https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const line: Scheme = hmacHeader({ name: "x-line-signature", encoding: "base64" });
