/**
 * Discord: the Ed25519 signature of `<x-signature-timestamp><body>` in hex. The secret is the application's public key in
 * hex.
 * https://discord.com/developers/docs/interactions/overview#validating-security-request-headers
 */
import { isEd25519 } from "../../ed25519.ts";
import { header, idOf, refuseTime } from "../../request.ts";
import type { Scheme } from "../../scheme.ts";
import { accepted, malformed, mismatch, missing } from "../../scheme.ts";

const name = "x-signature-ed25519";
const timeName = "x-signature-timestamp";

export const discord: Scheme = {
  signsDeliveryId: true,
  verify({ secrets, headers, body, nowSeconds }) {
    const text = header(headers, name);
    if (text === null) return missing(name);
    if (!/^[0-9a-f]{128}$/.test(text)) return malformed(name, "128 hex digits");
    const seconds = header(headers, timeName);
    const untimely = refuseTime(seconds, timeName, nowSeconds);
    if (untimely !== null) return untimely;
    const message = Buffer.concat([Buffer.from(`${seconds}`), body]);
    const signature = Buffer.from(text, "hex");
    return secrets.some((secret) => isEd25519(Buffer.from(secret, "hex"), message, signature))
      ? accepted
      : mismatch;
  },
  deliveryId: (_headers, payload) => idOf(payload.id),
};
