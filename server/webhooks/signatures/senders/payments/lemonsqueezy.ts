/**
 * Lemon Squeezy: the HMAC-SHA256 of the body. A request has no id.
 * https://docs.lemonsqueezy.com/help/webhooks/signing-requests
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const lemonsqueezy: Scheme = hmacHeader({ name: "x-signature", encoding: "hex" });
