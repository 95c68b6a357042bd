/**
 * The interface of a handshake: the exchange by which a sender checks a URL before it sends webhooks. A handshake starts no
 * execution.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { WebhookDefinition } from "../../../project/definition.ts";
import type { JsonObject } from "../../../project/json.ts";
import type { FetchUrl } from "../fetch.ts";

export interface PreflightRequest {
  method: string;
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  /** Values of the handshake's secrets that are set. */
  secrets: readonly string[];
  /** The rate limit of the webhook; null for the server's. */
  requestsPerSecond: number | null;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A refusal with one sentence for the delivery log, answered with 403, or with 503 so that the sender tries again. */
export interface Refusal {
  refused: string;
  status: 403 | 503;
}

/** Null when the request is no handshake. */
export type Preflight = Answer | Refusal | null;

export interface VerifiedEvent {
  payload: JsonObject;
  definition: WebhookDefinition;
  /** Values of the handshake's secrets that are set. */
  secrets: readonly string[];
  fetchUrl: FetchUrl;
}

export interface Handshake {
  /**
   * Responds to a request without reading its body and without a signature: GET, HEAD, OPTIONS, and POST with a query or
   * with `x-hook-secret`.
   */
  preflight?(request: PreflightRequest): Preflight;
  /** Responds to a request whose signature was verified; null for an event. */
  event?(event: VerifiedEvent): Answer | null | Promise<Answer | Refusal | null>;
}

/** Plain text that no browser interprets: it repeats a part of the request. */
export function textAnswer(body: string): Answer {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status: 200, headers, body };
}

export function jsonAnswer(value: JsonObject): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}
