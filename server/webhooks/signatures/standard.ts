/**
 * Standard Webhooks 1.0.0: `webhook-signature` lists signatures of `<webhook-id>.<webhook-timestamp>.<body>`, separated
 * by spaces. `v1` is HMAC-SHA256, its secret `whsec_` and base64; `v1a` is Ed25519, its secret, here the sender's public
 * key, `whpk_` and base64.
 */
import { createPublicKey, verify as verifyEd25519 } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { someHmacMatches } from "./digest.ts";
import { deliveryOf, header, refuseTime } from "./request.ts";
import type { Delivery, SignedRequest, Verification } from "./scheme.ts";
import { accepted, malformed, mismatch, missing, refused } from "./scheme.ts";

/** More signatures than this are refused: each `v1a` costs 0.1 ms, and a rotation needs two. */
const maxSignatures = 8;

export const signsDeliveryId = true;

export function verify({ secrets, headers, body, nowSeconds }: SignedRequest): Verification {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const signature = header(headers, "webhook-signature");
  if (signature === null) return missing("webhook-signature");
  if (id === null) return missing("webhook-id");
  // The specification forbids a full stop in the id: one signed text could be split into another id and body.
  if (!/^[\x21-\x2d\x2f-\x7e]+$/.test(id)) {
    return malformed("webhook-id", "visible ASCII without full stops");
  }
  const untimely = refuseTime(timestamp, "webhook-timestamp", nowSeconds);
  if (untimely !== null) return untimely;
  const candidates = signature.split(" ", maxSignatures + 1);
  if (candidates.length > maxSignatures) {
    return malformed("webhook-signature", `at most ${maxSignatures} signatures`);
  }
  const symmetric = secrets.map((secret) => secret.replace(/^whsec_/, "")).filter(isBase64);
  const asymmetric = secrets.filter((secret) => secret.startsWith("whpk_")).map((secret) => secret.slice(5));
  if (symmetric.length + asymmetric.length === 0) {
    return refused("unusable", "The webhook's secret must be base64 after 'whsec_' or 'whpk_'.");
  }
  const before = `${id}.${timestamp}.`;
  const keys = { keys: symmetric, keyEncoding: "base64" } as const;
  const hmac = { algorithm: "sha256", encoding: "base64", ...keys, before, body } as const;
  if (someHmacMatches(hmac, of("v1,", candidates))) return accepted;
  return someEd25519Matches(asymmetric, before, body, of("v1a,", candidates)) ? accepted : mismatch;
}

export function delivery(headers: IncomingHttpHeaders): Delivery {
  return deliveryOf(header(headers, "webhook-id"));
}

function of(version: string, candidates: string[]): string[] {
  return candidates.filter((each) => each.startsWith(version)).map((each) => each.slice(version.length));
}

/** A non-empty key: anyone could sign with an empty one. Excluding `_` keeps public keys out. */
function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]{4,}={0,2}$/.test(text);
}

function someEd25519Matches(keys: string[], before: string, body: Uint8Array, candidates: string[]): boolean {
  if (keys.length === 0 || candidates.length === 0) return false;
  const message = Buffer.concat([Buffer.from(before), body]);
  const signatures = candidates
    .map((text) => ({ text, raw: Buffer.from(text, "base64") }))
    .filter(({ text, raw }) => raw.length === 64 && raw.toString("base64") === text);
  return keys.some((key) => signatures.some(({ raw }) => verifiesEd25519(key, message, raw)));
}

function verifiesEd25519(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  const raw = Buffer.from(publicKey, "base64");
  if (raw.length !== 32) return false;
  const x = raw.toString("base64url");
  try {
    const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
    return verifyEd25519(null, message, key, signature);
  } catch {
    // Deno throws for a key that is not a point of the curve; on Node and Bun the verification fails.
    return false;
  }
}
