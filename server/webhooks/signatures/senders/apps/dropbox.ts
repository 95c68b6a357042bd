/**
 * Dropbox: the HMAC-SHA256 of the body under the app secret. A request has no id.
 * https://www.dropbox.com/developers/reference/webhooks
 */
import { hmacHeader } from "../../hmac-header.ts";
import type { Scheme } from "../../scheme.ts";

export const dropbox: Scheme = hmacHeader({ name: "x-dropbox-signature", encoding: "hex" });
