/** Comparing signatures, in time that does not depend on where they differ. */
import type { BinaryToTextEncoding } from "node:crypto";
import { createHmac, timingSafeEqual } from "node:crypto";

export interface HmacOptions {
  /** As `node:crypto` names it. */
  algorithm: string;
  encoding: BinaryToTextEncoding;
  /** An empty one matches nothing: anyone could sign with it. */
  keys: readonly string[];
  /** What the keys are text of. Bytes as keys would cost Node 10 us more. */
  keyEncoding: "utf8" | "base64";
  /** What is signed besides the body, before it. */
  before: string;
  body: Uint8Array;
}

/**
 * Whether one of the candidates is the HMAC (RFC 2104) under one of the keys. Candidates are compared as they are
 * written, so that an encoding's unused bits and letter case cannot make two texts of one signature.
 */
export function someHmacMatches(options: HmacOptions, candidates: readonly string[]): boolean {
  const { algorithm, encoding, keys, keyEncoding, before, body } = options;
  for (const key of keys) {
    if (key.length === 0) continue;
    const hmac = createHmac(algorithm, key, { encoding: keyEncoding });
    if (before !== "") hmac.update(before);
    const expected = Buffer.from(hmac.update(body).digest(encoding));
    for (const candidate of candidates) {
      if (sameBytes(Buffer.from(candidate), expected)) return true;
    }
  }
  return false;
}

/** Compares in time that depends on the lengths alone. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
