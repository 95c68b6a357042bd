/** The idempotency key of a request: its delivery id or its `Idempotency-Key`. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { invalid } from "../errors.ts";
import type { Route } from "./route-table.ts";
import { signsDeliveryId } from "./signatures/index.ts";

/** How long the key of a sender that retries is kept. */
export const keyLifetimeMs: number = 24 * 3600_000;

const maxKeyCharacters = 255;
const visibleAscii = /^[\x21-\x7e]+$/;

export interface IdempotencyKey {
  key: string;
  /** SHA-256 of the body, lower-case hex. */
  bodyHash: string;
  lifetimeMs: number;
}

export interface KeyedRequest {
  headers: IncomingHttpHeaders;
  /** As received. */
  body: Uint8Array;
  /** The signing scheme's id of the verified request. */
  deliveryId: string | null;
}

/**
 * Where the signature covers the delivery id, only this id counts: a captured request could be sent again with another
 * `Idempotency-Key`. Otherwise the sender's delivery id takes precedence over `Idempotency-Key`. A signature that covers
 * neither the id nor a time stays valid, so its delivery id is kept as long as the deliveries.
 *
 * @param retentionMs - how long executions and deliveries are kept
 * @throws ConnectError `invalid_argument` when a header's value cannot be a key
 */
export function idempotencyKeyOf(
  { definition }: Pick<Route, "definition">,
  { headers, body, deliveryId }: KeyedRequest,
  retentionMs: number,
): IdempotencyKey | null {
  const { signature, idempotency } = definition;
  if (signature !== null && signsDeliveryId(signature)) return keyOf(deliveryId, body, keyLifetimeMs);
  const configured = idempotency === null ? null : keyIn(headers, idempotency.header);
  const senderId = configured ?? deliveryId;
  if (senderId !== null) return keyOf(senderId, body, signature === null ? keyLifetimeMs : retentionMs);
  return keyOf(keyIn(headers, "idempotency-key"), body, keyLifetimeMs);
}

/** The key of a call that carries an `Idempotency-Key`. @throws ConnectError `invalid_argument` */
export function idempotencyKeyOfCall(header: string | null, body: Uint8Array): IdempotencyKey | null {
  return header === null ? null : keyOf(checkedKey("idempotency-key", header), body, keyLifetimeMs);
}

function keyOf(key: string | null, body: Uint8Array, lifetimeMs: number): IdempotencyKey | null {
  return key === null ? null : { key, bodyHash: createHash("sha256").update(body).digest("hex"), lifetimeMs };
}

function checkedKey(name: string, text: string): string {
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
