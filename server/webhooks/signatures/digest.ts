/** Compares signatures in constant time. */
import type { BinaryToTextEncoding } from "node:crypto";
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export interface HmacOptions {
  /** The algorithm's name in `node:crypto`. */
  algorithm: string;
  encoding: BinaryToTextEncoding;
  /** An empty key matches nothing: anyone could sign with it. */
  keys: readonly string[];
  /** The encoding of the keys. Keys as bytes cost Node 10 us more. */
  keyEncoding: "utf8" | "base64";
  /** The signed text before the body. */
  before: string;
  body: Uint8Array;
  /** The signed text after the body. */
  after?: string;
}

/**
 * Whether one of the candidates is the HMAC (RFC 2104) under one of the keys. Candidates are compared as text, so that
 * unused bits and letter case of an encoding do not give one signature several valid texts.
 */
export function someHmacMatches(options: HmacOptions, candidates: readonly string[]): boolean {
  const { algorithm, encoding, keys, keyEncoding, before, body, after } = options;
  for (const key of keys) {
    if (key.length === 0) continue;
    const hmac = createHmac(algorithm, key, { encoding: keyEncoding });
    if (before !== "") hmac.update(before);
    hmac.update(body);
    if (after !== undefined) hmac.update(after);
    const expected = Buffer.from(hmac.digest(encoding));
    for (const candidate of candidates) {
      if (sameBytes(Buffer.from(candidate), expected)) return true;
    }
  }
  return false;
}

/** Compares in a time that depends only on the lengths. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares a text with a secret. Comparing digests hides the length of the secret too. */
export function sameSecret(given: Uint8Array, secret: string): boolean {
  return sameBytes(sha256(given), sha256(Buffer.from(secret)));
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}
