/** Responds to handshakes: the exchanges by which senders check a URL. They are deliveries without an execution. */
import { Code, ConnectError } from "@connectrpc/connect";
import { fail } from "../errors.ts";
import { senderAddress } from "../sender.ts";
import type { App } from "../services/app.ts";
import { type Answer, type Handshake, handshakeOf, handshakeSecrets } from "../webhooks/handshakes/index.ts";
import type { Route } from "../webhooks/route-table.ts";
import { isAllowedSource } from "../webhooks/source.ts";
import type { Request, Response } from "./answer.ts";
import { discardRest } from "./body-pace.ts";
import type { Match } from "./http-rule.ts";
import { readAddress } from "./webhook-address.ts";

export interface Exchange {
  app: App;
  request: Request;
  response: Response;
}

/**
 * Responds to GET, HEAD or OPTIONS on the URL of a webhook. False when the request is no handshake of the webhook: the
 * response is then the same as for a URL without a webhook.
 *
 * @throws ConnectError 403 when the handshake is refused, 429
 */
export async function handlePreflight(
  exchange: Exchange,
  match: Match,
  environment: string,
): Promise<boolean> {
  const { app, request } = exchange;
  const route = await findRoute(app, match, environment);
  const handshake = route === null ? null : handshakeOf(route.definition);
  if (route === null || handshake === null) return false;
  const source = senderAddress(request.socket);
  app.limits.admit(route.orgId, source);
  return isAllowedSource(route.definition, source) && (await answerPreflight(exchange, route, handshake));
}

async function findRoute(app: App, match: Match, environment: string): Promise<Route | null> {
  try {
    return await app.trigger.route(readAddress(match, environment));
  } catch (error) {
    if (error instanceof ConnectError) return null;
    throw error;
  }
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
  if (handshake.preflight === undefined || (method === "POST" && at < 0)) return false;
  const result = handshake.preflight({
    method,
    headers: request.headers,
    query: new URLSearchParams(at < 0 ? "" : url.slice(at + 1)),
    secrets: await secretsOf(app, route.orgId, handshakeSecrets(route.definition)),
    requestsPerSecond: route.definition.rateLimit?.requestsPerSecond ?? null,
  });
  if (result === null) return false;
  if ("refused" in result) {
    record(exchange, route, "rejected", 403, result.refused, 0);
    throw fail(Code.PermissionDenied, "The handshake was refused.");
  }
  send(exchange, route, result, 0);
  return true;
}

/** Responds to a handshake in a request whose signature was verified. */
export async function answerEvent(
  exchange: Exchange,
  route: Route,
  handshake: Handshake,
  payload: Parameters<NonNullable<Handshake["event"]>>[0],
  sizeBytes: number,
): Promise<boolean> {
  if (handshake.event === undefined) return false;
  const secrets = await secretsOf(exchange.app, route.orgId, handshakeSecrets(route.definition));
  const answer = handshake.event(payload, secrets);
  if (answer !== null) send(exchange, route, answer, sizeBytes);
  return answer !== null;
}

/** The values of the secrets that are set. */
export async function secretsOf(app: App, orgId: string, names: readonly string[]): Promise<string[]> {
  const values = await app.vault.values(orgId);
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
  const { headers } = request;
  const delivery = { receivedAtMs: Date.now(), httpStatus, reason, sizeBytes, headers, payload: null };
  app.rejections.add(route, delivery, outcome);
}
