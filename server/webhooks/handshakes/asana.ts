/**
 * Asana: POST with `X-Hook-Secret`, which the response repeats. The server does not store it: any sender could set the
 * secret then. The response to the creation of the webhook carries it too.
 * https://developers.asana.com/docs/webhooks-guide#the-webhook-handshake
 */
import type { Handshake } from "./handshake.ts";

export const asana: Handshake = {
  preflight({ method, headers }) {
    const secret = headers["x-hook-secret"];
    if (method !== "POST" || typeof secret !== "string" || !/^[\x21-\x7e]{1,255}$/.test(secret)) return null;
    return { status: 200, headers: { "x-hook-secret": secret }, body: "" };
  },
};
