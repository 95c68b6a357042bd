/**
 * What every signature scheme has in common.
 *
 * Glossary: a *scheme* says how a sender proves that a webhook is his: `verify` looks at the raw bytes and decides,
 * `delivery` reads, from a webhook already verified and parsed, what the scheme says about the delivery. Each scheme's
 * file exports these two functions, in this order. A *candidate* is one signature of those that the request brings; a
 * *rule* is what a refused request broke.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { SignatureDefinition } from "../../../project/definition.ts";
import type { JsonObject } from "../../../project/json.ts";

/** A request whose signature is to be checked. */
export interface SignedRequest {
  definition: SignatureDefinition;
  /** Values of the secrets, one or, during rotation, several; any one of them will do. */
  secrets: readonly string[];
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  /** As it was received, byte for byte. */
  body: Uint8Array;
  /** The server's time, in seconds of Unix time. */
  nowSeconds: number;
}

/**
 * The rule that a refused request broke: its signature is missing, not of the scheme's form or wrong, its time is
 * missing, unreadable or too far off, or the webhook itself has no secret that could be used.
 */
export type SignatureRule = "missing" | "malformed" | "mismatch" | "time" | "unusable";

/**
 * `rule` may be told to the sender (`ruleMessages`). `reason` is one sentence for the deliveries' inspector and the log;
 * neither holds a secret, an expected signature or a piece of the request.
 */
export type Verdict = { ok: true } | { ok: false; rule: SignatureRule; reason: string };

/** What a scheme says about a delivery. */
export interface Delivery {
  /** The sender's own id, the same when he sends again: 1 to 255 visible ASCII characters. Null when there is none. */
  deliveryId: string | null;
  /** Text to be answered, with nothing run: Slack asks for it when a URL is entered there. */
  challenge: string | null;
}

export interface Scheme {
  verify(request: SignedRequest): Verdict;
  delivery(headers: IncomingHttpHeaders, payload: JsonObject): Delivery;
}

export const accepted: Verdict = { ok: true };

export function refused(rule: SignatureRule, reason: string): Verdict {
  return { ok: false, rule, reason };
}

export const missing = (name: string): Verdict => refused("missing", `Header ${name} is missing.`);
export const malformed = (name: string, rule: string): Verdict =>
  refused("malformed", `Header ${name} must be ${rule}.`);
export const mismatch: Verdict = refused("mismatch", "No signature matches the body under any secret set.");
export const noSecret: Verdict = refused("unusable", "The webhook's secret is not set, or is empty.");
