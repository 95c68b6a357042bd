/** GET, HEAD and OPTIONS on the URL of a webhook: handshakes, and requests whose payload is the query. */
import { ConnectError } from "@connectrpc/connect";
import { invalid } from "../../errors.ts";
import type { App } from "../../services/app.ts";
import { queryOf } from "../../webhooks/content/raw.ts";
import { maxFields } from "../../webhooks/content/result.ts";
import { handshakeOf } from "../../webhooks/handshakes/index.ts";
import type { Rejection } from "../../webhooks/rejection-log.ts";
import type { Route } from "../../webhooks/route-table.ts";
import { isAllowedSource } from "../../webhooks/source.ts";
import type { Match } from "../rest/http-rule.ts";
import { readAddress } from "./address.ts";
import { admit, finish, recorded, type WebhookRequest } from "./deliver.ts";
import { answerPreflight } from "./handshake.ts";
import { sendEmpty } from "./response.ts";
import { verify } from "./verify.ts";

const emptyBody = new Uint8Array();

/**
 * Responds to a request without a body. False when the webhook takes none: the response is then the same as for a URL
 * without a webhook.
 *
 * @throws ConnectError 403 when a handshake is refused, 429
 */
export async function handleUnposted(hook: WebhookRequest): Promise<boolean> {
  const { app, request, response } = hook;
  const route = await findRoute(app, hook.match, hook.environment);
  if (route === null) return false;
  const handshake = handshakeOf(route.definition);
  const takesGet = route.definition.methods?.includes("GET") === true;
  if (handshake === null && !takesGet) return false;
  if (takesGet && request.method === "GET") {
    await recorded(hook, route, (rejection) => deliverQuery(hook, route, rejection));
    return true;
  }
  const source = app.senders.addressOf(request);
  app.limits.admit(route.orgId, source);
  if (!isAllowedSource(route.definition, source)) return false;
  if (handshake !== null && (await answerPreflight(hook, route, handshake))) return true;
  if (!takesGet || request.method !== "HEAD") return false;
  // Programs that preview links send HEAD. It must not start an execution.
  sendEmpty(response, {});
  return true;
}

async function deliverQuery(hook: WebhookRequest, route: Route, rejection: Rejection): Promise<void> {
  const { app, request, response } = hook;
  admit(hook, route, rejection);
  const handshake = handshakeOf(route.definition);
  if (handshake !== null && (await answerPreflight(hook, route, handshake))) return;
  // A cache must not answer in place of the server.
  response.setHeader("cache-control", "no-store");
  const { url = "" } = request;
  const at = url.indexOf("?");
  const query = at < 0 ? "" : url.slice(at + 1);
  if (query.split("&", maxFields + 1).length > maxFields) {
    throw invalid(`A query must have at most ${maxFields} parameters.`);
  }
  const bytes = Buffer.from(query);
  rejection.sizeBytes = bytes.byteLength;
  await verify(app, request, route, rejection, emptyBody);
  const value = queryOf(url);
  await finish(hook, route, rejection, {
    content: { value, text: JSON.stringify(value) },
    body: emptyBody,
    bytes,
  });
}

async function findRoute(app: App, match: Match, environment: string): Promise<Route | null> {
  try {
    return await app.trigger.route(readAddress(match, environment));
  } catch (error) {
    if (error instanceof ConnectError) return null;
    throw error;
  }
}
