/**
 * `hmac`: a configured header carries the HMAC of the body or, with a timestamp header, of `<timestamp>.<body>`, or of
 * configured content. Hex may be in either letter case, base64 with or without padding.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition } from "../../../../project/definition.ts";
import { signedContent } from "../content.ts";
import { someHmacMatches } from "../digest.ts";
import { header, refuseTime } from "../request.ts";
import type { SignedRequest, Verification } from "../scheme.ts";
import { accepted, malformed, mismatch, missing, refused } from "../scheme.ts";

const digestBytes = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

export const signsDeliveryId = false;

export function verify({ definition, secrets, headers, body, nowSeconds, url }: SignedRequest): Verification {
  const { header: name, prefix, timestampHeader, algorithm, encoding, toleranceSeconds } = definition;
  if (name === null) return refused("unusable", "The webhook's signature names no header.");
  const signature = header(headers, name);
  if (signature === null) return missing(name);
  if (!signature.startsWith(prefix)) return malformed(name, "a signature after its prefix");
  const candidate = canonical(signature.slice(prefix.length), definition);
  if (candidate === null) return malformed(name, `a signature as ${encoding}`);
  const seconds = timestampHeader === null ? null : header(headers, timestampHeader);
  if (timestampHeader !== null) {
    const untimely = refuseTime(seconds, timestampHeader, nowSeconds, toleranceSeconds);
    if (untimely !== null) return untimely;
  }
  const content = signedContent(definition, seconds, url);
  const options = { algorithm, encoding, keys: secrets, keyEncoding: "utf8", body, ...content } as const;
  return someHmacMatches(options, [candidate]) ? accepted : mismatch;
}

/** The scheme defines no delivery id; the webhook's `idempotency` may name a header. */
export function deliveryId(_headers: IncomingHttpHeaders): null {
  return null;
}

/** The text in the form of `node:crypto`: lower-case hex, padded base64, unpadded base64url. */
function canonical(text: string, { algorithm, encoding }: SignatureDefinition): string | null {
  const size = digestBytes[algorithm];
  if (encoding === "hex")
    return /^[0-9a-fA-F]+$/.test(text) && text.length === size * 2 ? text.toLowerCase() : null;
  const bare = text.replace(/={1,2}$/, "");
  if (bare.length !== Math.ceil((size * 4) / 3)) return null;
  return encoding === "base64" ? bare.padEnd(Math.ceil(size / 3) * 4, "=") : bare;
}
