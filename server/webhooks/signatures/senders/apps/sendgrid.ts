/**
 * SendGrid's event webhook: the ECDSA signature (P-256, SHA-256) of the timestamp and the body, in base64. The secret is the
 * verification key: the public key in base64. A payload is an array of events.
 * https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
 */
import { createPublicKey, verify } from "node:crypto";
import { header, idOf, refuseTime } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";
import { accepted, malformed, mismatch, missing } from "../../scheme.ts";

const name = "x-twilio-email-event-webhook-signature";
const timeName = "x-twilio-email-event-webhook-timestamp";

export const sendgrid: Scheme = {
  signsDeliveryId: false,
  verify({ secrets, headers, body, nowSeconds }) {
    const text = header(headers, name);
    if (text === null) return missing(name);
    const signature = Buffer.from(text, "base64");
    // The text is compared, so that unused bits of base64 do not give one signature several valid texts.
    if (signature.toString("base64") !== text) return malformed(name, "base64");
    const seconds = header(headers, timeName);
    const untimely = refuseTime(seconds, timeName, nowSeconds);
    if (untimely !== null) return untimely;
    const message = Buffer.concat([Buffer.from(`${seconds}`), body]);
    return secrets.some((secret) => isEcdsa(secret, message, signature)) ? accepted : mismatch;
  },
  deliveryId: () => idOf(null),
};

function isEcdsa(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyType === "ec" && verify("sha256", message, key, signature);
  } catch {
    // The secret is not a public key, or the signature is not DER.
    return false;
  }
}
