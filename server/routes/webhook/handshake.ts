/** Responds to handshakes: the exchanges by which senders check a URL. They are deliveries without an execution. */
import type { JsonObject } from "../../../project/json.ts";
import { fail } from "../../errors.ts";
import type { App } from "../../services/app.ts";
import { type Answer, type Handshake, handshakeSecrets } from "../../webhooks/handshakes/index.ts";
import type { Route } from "../../webhooks/route-table.ts";
import type { Request, Response } from "../answer.ts";
import { discardRest } from "../body-pace.ts";

export interface Exchange {
  app: App;
  request: Request;
  response: Response;
}

/** @throws ConnectError 403 when the handshake is refused */
export async function answerPreflight(
  exchange: Exchange,
  route: Route,
  handshake: Handshake,
): Promise<boolean> {
  const { app, request } = exchange;
  const { method = "", url = "" } = request;
  const at = url.indexOf("?");
  if (handshake.preflight === undefined) return false;
  if (method === "POST" && at < 0 && request.headers["x-hook-secret"] === undefined) return false;
  const result = handshake.preflight({
    method,
    headers: request.headers,
    query: new URLSearchParams(at < 0 ? "" : url.slice(at + 1)),
    secrets: await secretsOf(app, route, handshakeSecrets(route.definition)),
    requestsPerSecond: route.definition.rateLimit?.requestsPerSecond ?? null,
  });
  if (result === null) return false;
  if ("refused" in result) {
    record(exchange, route, "rejected", result.status, result.refused, 0);
    throw fail("HANDSHAKE_REFUSED", "The handshake was refused.");
  }
  send(exchange, route, result, 0);
  return true;
}

/**
 * Responds to a handshake in a request whose signature was verified.
 *
 * @throws ConnectError 403 or 503 when the handshake is refused, for the caller to record
 */
export async function answerEvent(
  exchange: Exchange,
  route: Route,
  handshake: Handshake,
  payload: JsonObject,
  sizeBytes: number,
): Promise<boolean> {
  if (handshake.event === undefined) return false;
  const { app } = exchange;
  const { definition } = route;
  const secrets = await secretsOf(app, route, handshakeSecrets(definition));
  const answer = await handshake.event({ payload, definition, secrets, fetchUrl: app.fetchUrl });
  if (answer === null) return false;
  if ("refused" in answer) {
    const { refused, status } = answer;
    throw fail(status === 503 ? "UNAVAILABLE" : "HANDSHAKE_REFUSED", refused, { status });
  }
  send(exchange, route, answer, sizeBytes);
  return true;
}

/** The values of the secrets that are set. */
export async function secretsOf(app: App, route: Route, names: readonly string[]): Promise<string[]> {
  const values = await app.vault.values(route.orgId, route.environment);
  return names.flatMap((name) => (Object.hasOwn(values, name) ? [values[name] ?? ""] : []));
}

function send(exchange: Exchange, route: Route, answer: Answer, sizeBytes: number): void {
  record(exchange, route, "handshake", answer.status, "", sizeBytes);
  discardRest(exchange.request, exchange.response);
  exchange.response.writeHead(answer.status, { ...exchange.app.limits.peek(route), ...answer.headers });
  exchange.response.end(answer.body);
}

function record(
  { app, request }: Exchange,
  route: Route,
  outcome: "handshake" | "rejected",
  httpStatus: number,
  reason: string,
  sizeBytes: number,
): void {
  const { headers, url = "" } = request;
  const delivery = { receivedAtMs: Date.now(), httpStatus, reason, sizeBytes, headers, url, payload: null };
  app.rejections.add(route, delivery, outcome);
}
