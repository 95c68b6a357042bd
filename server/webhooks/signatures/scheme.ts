/**
 * The interface of a signature scheme.
 *
 * Glossary: a *scheme* defines how a sender signs requests. `verify` checks the raw bytes; `deliveryId` reads the delivery
 * id from a request that is verified and parsed. The file of each scheme exports the members of `Scheme`, in
 * this order. A *candidate* is one of the signatures in a request; a *rule* is a condition that a refused request violated.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition } from "../../../project/definition.ts";
import type { JsonObject } from "../../../project/json.ts";

/** A request to verify. */
export interface SignedRequest {
  definition: SignatureDefinition;
  /** Values of the secrets; several during a rotation, any of which may match. */
  secrets: readonly string[];
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  /** The bytes as received. */
  body: Uint8Array;
  /** The server's Unix time. */
  nowSeconds: number;
  /** The URL as the sender knows it: the server's public URL, the path and the query. */
  url: string;
}

/**
 * The violated rule: the signature is missing, malformed or wrong, the time is missing, unreadable or too far from the
 * server's, the webhook has no usable secret, or the sender's certificate is unavailable for now.
 */
export type SignatureRule = "missing" | "malformed" | "mismatch" | "time" | "unusable" | "unavailable";

/**
 * `rule` may be sent to the sender (`ruleMessages`). `reason` is one sentence for the delivery inspector. Neither contains
 * a secret, an expected signature or a part of the request.
 */
export type Verification = { ok: true } | { ok: false; rule: SignatureRule; reason: string };

export interface Scheme {
  /** Whether the signature covers the delivery id, so that a captured request cannot be sent with another one. */
  readonly signsDeliveryId: boolean;
  verify(request: SignedRequest): Verification;
  /** The sender's id, equal in repeats of a request: 1 to 255 visible ASCII characters. Null when there is none. */
  deliveryId(headers: IncomingHttpHeaders, payload: JsonObject): string | null;
}

export const accepted: Verification = { ok: true };

export function refused(rule: SignatureRule, reason: string): Verification {
  return { ok: false, rule, reason };
}

export const missing = (name: string): Verification => refused("missing", `Header ${name} is missing.`);
export const malformed = (name: string, rule: string): Verification =>
  refused("malformed", `Header ${name} must be ${rule}.`);
export const mismatch: Verification = refused(
  "mismatch",
  "No signature matches the body under any secret set.",
);
export const noSecret: Verification = refused("unusable", "The webhook's secret is not set, or is empty.");
