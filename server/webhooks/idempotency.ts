/** The idempotency key of a request: its `Idempotency-Key`, the webhook's configured header, or the signing scheme's id. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { invalid } from "../errors.ts";
import type { Route } from "./route-table.ts";

/** How long a key is kept. */
export const keyLifetimeMs: number = 24 * 3600_000;

const maxKeyCharacters = 255;
const visibleAscii = /^[\x21-\x7e]+$/;

export interface IdempotencyKey {
  key: string;
  /** SHA-256 of the body, lower-case hex. */
  bodyHash: string;
}

/**
 * @param deliveryId - the signing scheme's id of a verified request
 * @throws ConnectError `invalid_argument` when a header's value cannot be a key
 */
export function idempotencyKeyOf(
  route: Route,
  headers: IncomingHttpHeaders,
  deliveryId: string | null,
  body: Uint8Array,
): IdempotencyKey | null {
  const configured = route.definition.idempotency?.header;
  const text =
    keyIn(headers, "idempotency-key") ??
    (configured === undefined ? null : keyIn(headers, configured)) ??
    deliveryId;
  return text === null ? null : { key: text, bodyHash: hashOf(body) };
}

export function hashOf(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

/** @throws ConnectError `invalid_argument` */
export function checkedKey(name: string, text: string): string {
  // The IETF draft defines the value as a quoted string; most senders omit the quotes.
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (key.length > maxKeyCharacters || !visibleAscii.test(key)) {
    throw invalid(`Cannot use ${name}: it must have 1 to ${maxKeyCharacters} visible ASCII characters.`);
  }
  return key;
}

function keyIn(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined || value === "") return null;
  return checkedKey(name, Array.isArray(value) ? value.join(",") : value);
}
