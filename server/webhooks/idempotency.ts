/** The idempotency key of a request: its delivery id or its `Idempotency-Key`. */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { WebhookDefinition } from "../../project/definition.ts";
import { fail } from "../errors.ts";
import type { Once } from "../store/tables/idempotency.ts";
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
  /** A repeat after the execution failed or was cancelled starts another one. */
  runsAfterFailure: boolean;
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
  const keyOf = (key: string | null, lifetimeMs: number): IdempotencyKey | null =>
    key === null ? null : newKey(key, definition, body, lifetimeMs);
  if (signature !== null && signsDeliveryId(signature)) return keyOf(deliveryId, keyLifetimeMs);
  const configured =
    idempotency === null || idempotency.header === null ? null : keyIn(headers, idempotency.header);
  const senderId = configured ?? deliveryId;
  if (senderId !== null) return keyOf(senderId, signature === null ? keyLifetimeMs : retentionMs);
  return keyOf(keyIn(headers, "idempotency-key"), keyLifetimeMs);
}

/** The key of a call that carries an `Idempotency-Key`. @throws ConnectError `invalid_argument` */
export function idempotencyKeyOfCall(
  header: string | null,
  { definition }: Pick<Route, "definition">,
  body: Uint8Array,
): IdempotencyKey | null {
  if (header === null) return null;
  return newKey(checkedKey("idempotency-key", header), definition, body, keyLifetimeMs);
}

/**
 * The idempotency key of RunExecution, within an environment. A repeat returns the first execution, also a failed one:
 * its caller wants the result.
 * @throws ConnectError `invalid_argument`
 */
export function onceForRun(
  environment: string,
  header: string | null,
  parts: readonly [name: string, kind: string, input: string],
): Once | null {
  if (header === null) return null;
  return {
    // Names of webhooks have four parts.
    webhook: `${environment}/run`,
    key: checkedKey("idempotency-key", header),
    bodyHash: createHash("sha256").update(parts.join("\n")).digest("hex"),
    lifetimeMs: keyLifetimeMs,
    runsAfterFailure: false,
  };
}

function newKey(
  key: string,
  { idempotency }: WebhookDefinition,
  body: Uint8Array,
  lifetimeMs: number,
): IdempotencyKey {
  const bodyHash = createHash("sha256").update(body).digest("hex");
  return { key, bodyHash, lifetimeMs, runsAfterFailure: idempotency?.afterFailure !== "replay" };
}

function checkedKey(name: string, text: string): string {
  // The IETF draft defines the value as a quoted string; most senders omit the quotes.
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (key.length > maxKeyCharacters || !visibleAscii.test(key)) {
    throw fail(
      "IDEMPOTENCY_KEY_INVALID",
      `Cannot use ${name}: it must have 1 to ${maxKeyCharacters} visible ASCII characters.`,
    );
  }
  return key;
}

function keyIn(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined || value === "") return null;
  return checkedKey(name, Array.isArray(value) ? value.join(",") : value);
}
