/**
 * API keys: `svc_<id>_<secret>`. Only a SHA-256 of the secret is stored; the secret has 256 random bits, so that a slow
 * hash would add nothing.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { randomId } from "./ids.ts";

export const scopes = ["read", "trigger", "deploy", "full"] as const;
/** Each scope includes those before it in `scopes`. */
export type Scope = (typeof scopes)[number];

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}

export function scopeAllows(held: string, needed: string): boolean {
  return scopes.indexOf(held as Scope) >= scopes.indexOf(needed as Scope);
}

export interface ParsedKey {
  keyId: string;
  /** SHA-256 of the secret, lower-case hex. */
  secretHash: string;
}

const form = /^svc_([A-Za-z0-9-]{1,64})_([A-Za-z0-9_-]{16,256})$/;

/** Makes a key. The text is shown once and kept nowhere. */
export function createKey(): ParsedKey & { text: string } {
  const keyId = randomId("key");
  const secret = randomBytes(32).toString("hex");
  return { keyId, secretHash: hash(secret), text: `svc_${keyId.slice(4)}_${secret}` };
}

/** Null when the text has not the form of a key. */
export function parseKey(text: string): ParsedKey | null {
  const match = form.exec(text);
  if (match === null) return null;
  const [, id = "", secret = ""] = match;
  return { keyId: keyIdOf(id), secretHash: hash(secret) };
}

/** An operator may bring a key whose id has a form of its own; it still gets an id of ours. */
function keyIdOf(id: string): string {
  if (/^[0-9a-hjkmnp-tv-z]{26}$/.test(id)) return `key_${id}`;
  const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  const digest = createHash("sha256").update(id).digest();
  return `key_${Array.from(digest.subarray(0, 26), (byte) => alphabet[byte & 31]).join("")}`;
}

/** Compared with when no key has the id, so that this takes the same path and time. */
const nobody = "0".repeat(64);

/** Whether the presented secret is the stored one, in constant time. */
export function sameSecret(presentedHash: string, storedHash: string | undefined): boolean {
  const equal = timingSafeEqual(Buffer.from(presentedHash, "hex"), Buffer.from(storedHash ?? nobody, "hex"));
  return equal && storedHash !== undefined;
}

function hash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
