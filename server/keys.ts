/**
 * API keys of the form `svc_<id>_<secret>`. Only the SHA-256 of the secret is stored. The secret has 256 random bits, so
 * that a slow hash would not make it safer.
 */
import { createHash, hash as digestOf, randomBytes, timingSafeEqual } from "node:crypto";
import { randomId } from "./ids.ts";

export const scopes = ["read", "trigger", "deploy", "full"] as const;
/** Each scope includes the preceding ones. */
export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

export function scopeAllows(held: string, required: string): boolean {
  return scopes.indexOf(held as Scope) >= scopes.indexOf(required as Scope);
}

export interface ParsedKey {
  keyId: string;
  /** SHA-256 of the secret, lower-case hex. */
  secretHash: string;
}

const keyPattern = /^svc_([A-Za-z0-9-]{1,64})_([A-Za-z0-9_-]{16,256})$/;

/** Creates a key. Its text is shown once and not stored. */
export function createKey(): ParsedKey & { text: string } {
  const keyId = randomId("key");
  const secret = randomBytes(32).toString("hex");
  return { keyId, secretHash: hash(secret), text: `svc_${keyId.slice(4)}_${secret}` };
}

/** @returns null if the text does not have the form of a key */
export function parseKey(text: string): ParsedKey | null {
  const match = keyPattern.exec(text);
  if (match === null) return null;
  const [, id = "", secret = ""] = match;
  return { keyId: keyIdOf(id), secretHash: hash(secret) };
}

/** Operators may register keys with ids of any form. Those ids are hashed to ids of the common form. */
function keyIdOf(id: string): string {
  if (/^[0-9a-hjkmnp-tv-z]{26}$/.test(id)) return `key_${id}`;
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const digest = createHash("sha256").update(id).digest();
  return `key_${Array.from(digest.subarray(0, 26), (byte) => alphabet[byte & 31]).join("")}`;
}

/** Compared if no key has the id, so that unknown ids take the same time. */
const noHash = "0".repeat(64);

/** Compares in constant time. */
export function sameSecret(presentedHash: string, storedHash: string | undefined): boolean {
  const equal = timingSafeEqual(Buffer.from(presentedHash, "hex"), Buffer.from(storedHash ?? noHash, "hex"));
  return equal && storedHash !== undefined;
}

function hash(secret: string): string {
  return digestOf("sha256", secret);
}
