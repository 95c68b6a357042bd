/**
 * Standard Webhooks 1.0.0: `webhook-signature` lists signatures of `<webhook-id>.<webhook-timestamp>.<body>`, separated
 * by spaces. `v1` is HMAC-SHA256, its secret `whsec_` and base64; `v1a` is Ed25519, its secret, here the sender's public
 * key, `whpk_` and base64. Svix and its customers, such as Clerk and Resend, send the same headers as `svix-…`.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * https://docs.svix.com/receiving/verifying-payloads/how-manual
 */
import type { IncomingHttpHeaders } from "node:http";
import { someHmacMatches } from "../digest.ts";
import { isEd25519 } from "../ed25519.ts";
import { header, idOf, refuseTime } from "../request.ts";
import type { SignedRequest, Verification } from "../scheme.ts";
import { accepted, malformed, mismatch, missing, refused } from "../scheme.ts";

/** More signatures than this are refused: each `v1a` costs 0.1 ms, and a rotation needs two. */
const maxSignatures = 8;

export const signsDeliveryId = true;

export function verify({ secrets, headers, body, nowSeconds }: SignedRequest): Verification {
  const brand = brandOf(headers);
  const id = header(headers, `${brand}-id`);
  const timestamp = header(headers, `${brand}-timestamp`);
  const signature = header(headers, `${brand}-signature`);
  if (signature === null) return missing(`${brand}-signature`);
  if (id === null) return missing(`${brand}-id`);
  // The specification forbids a full stop in the id: one signed text could be split into another id and body.
  if (!/^[\x21-\x2d\x2f-\x7e]+$/.test(id)) {
    return malformed(`${brand}-id`, "visible ASCII without full stops");
  }
  const untimely = refuseTime(timestamp, `${brand}-timestamp`, nowSeconds);
  if (untimely !== null) return untimely;
  const candidates = signature.split(" ", maxSignatures + 1);
  if (candidates.length > maxSignatures) {
    return malformed(`${brand}-signature`, `at most ${maxSignatures} signatures`);
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

export function deliveryId(headers: IncomingHttpHeaders): string | null {
  return idOf(header(headers, `${brandOf(headers)}-id`));
}

/** One set of headers is read as a whole, so that an unsigned id cannot accompany a signature of the other set. */
function brandOf(headers: IncomingHttpHeaders): "webhook" | "svix" {
  return headers["webhook-signature"] === undefined && headers["svix-signature"] !== undefined
    ? "svix"
    : "webhook";
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
  return keys.some((key) =>
    signatures.some(({ raw }) => isEd25519(Buffer.from(key, "base64"), message, raw)),
  );
}
