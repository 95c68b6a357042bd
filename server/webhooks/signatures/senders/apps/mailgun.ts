/**
 * Mailgun: the HMAC-SHA256 of `<timestamp><token>` under the webhook signing key. The three values are in the body: in
 * `signature` of JSON, or fields of a form. The rest of the body is not signed. Therefore the token is the delivery id: a
 * captured signature cannot start a second execution.
 * https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks
 */
import { isJsonObject, type JsonObject } from "../../../../../project/json.ts";
import { someHmacMatches } from "../../digest.ts";
import { idOf, parsedObject, refuseTime } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";
import { accepted, mismatch, refused } from "../../scheme.ts";

export const mailgun: Scheme = {
  signsDeliveryId: true,
  verify({ secrets, body, nowSeconds }) {
    const { timestamp, token, signature } = signed(parsedObject(body) ?? formOf(body));
    if (signature === undefined) return refused("missing", "The body has no signature.");
    if (typeof token !== "string" || typeof signature !== "string") {
      return refused(
        "malformed",
        "The signature in the body must have a timestamp, a token and a signature.",
      );
    }
    const seconds = typeof timestamp === "number" ? `${timestamp}` : timestamp;
    const untimely = refuseTime(typeof seconds === "string" ? seconds : null, "timestamp", nowSeconds);
    if (untimely !== null) return untimely;
    const text = Buffer.from(`${seconds}${token}`);
    const keys = { keys: secrets, keyEncoding: "utf8" } as const;
    const hmac = { algorithm: "sha256", encoding: "hex", ...keys, before: "", body: text } as const;
    return someHmacMatches(hmac, [signature]) ? accepted : mismatch;
  },
  deliveryId: (_headers, payload) => idOf(signed(payload).token),
};

function signed(payload: JsonObject): JsonObject {
  return isJsonObject(payload.signature) ? payload.signature : payload;
}

/** The three fields of a form. */
function formOf(body: Uint8Array): JsonObject {
  const fields = new URLSearchParams(Buffer.from(body).toString());
  const found: JsonObject = {};
  for (const name of ["timestamp", "token", "signature"]) {
    const [value, ...more] = fields.getAll(name);
    if (value !== undefined && more.length === 0) found[name] = value;
  }
  return found;
}
