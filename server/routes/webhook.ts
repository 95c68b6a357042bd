/**
 * The hot path of webhooks: from the socket to a committed row without the RPC pipeline, whose unary call over HTTP costs
 * seven times as much. The paths are the HTTP rules of TriggerWebhook, and `Trigger` accepts the request.
 *
 * The order: find the route, apply the sender's coarse limit, read the body, verify the signature, parse, charge the
 * limits of the webhook and the organization, queue the execution.
 */
import { Code } from "@connectrpc/connect";
import { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { fail, statusOf, toPublicError } from "../errors.ts";
import { senderAddress } from "../sender.ts";
import type { App } from "../services/app.ts";
import { readBody } from "../webhooks/body.ts";
import { isCloudEvent } from "../webhooks/content/cloud-event.ts";
import { contentKindOf } from "../webhooks/content/kind.ts";
import { withoutCredentials } from "../webhooks/credentials.ts";
import { handshakeOf } from "../webhooks/handshakes/index.ts";
import { type IdempotencyKey, idempotencyKeyOf } from "../webhooks/idempotency.ts";
import { parseJsonObject } from "../webhooks/json.ts";
import { sourcesOfRequest } from "../webhooks/mapping-sources.ts";
import type { Rejection } from "../webhooks/rejection-log.ts";
import type { Route } from "../webhooks/route-table.ts";
import { readDeliveryId, ruleMessages, verifySignature } from "../webhooks/signatures/index.ts";
import { isAllowedSource } from "../webhooks/source.ts";
import type { Payload } from "../webhooks/trigger.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { bodyError, contentTypeError } from "./body-error.ts";
import { inviteBody } from "./body-pace.ts";
import type { Match } from "./http-rule.ts";
import { originForm } from "./origin-form.ts";
import { readAddress } from "./webhook-address.ts";
import { readOtherContent, readRaw } from "./webhook-content.ts";
import { answerEvent, answerPreflight, secretsOf } from "./webhook-handshake.ts";

const bodyTimeoutMs = 30_000;
const dayMs = 86_400_000;

/** Whether the path is a webhook URL. */
export function isWebhook(match: Match): boolean {
  return match.rule.method === WebhookService.method.triggerWebhook;
}

export interface WebhookRequest {
  app: App;
  request: Request;
  response: Response;
  match: Match;
  environment: string;
  report(error: unknown): void;
}

export async function handleWebhook(hook: WebhookRequest): Promise<void> {
  const { app, request, response, report } = hook;
  let route: Route;
  try {
    const address = readAddress(hook.match, hook.environment);
    route = app.trigger.cachedRoute(address) ?? (await app.trigger.route(address));
  } catch (error) {
    sendError(response, toPublicError(error, report));
    return;
  }
  const rejection: Rejection = {
    receivedAtMs: Date.now(),
    httpStatus: 0,
    reason: "",
    sizeBytes: 0,
    headers: request.headers,
    payload: null,
  };
  try {
    await deliver(hook, route, rejection);
  } catch (thrown) {
    // The sender closed the connection before the request was complete: there is nothing to answer or record.
    if (request.destroyed && !request.complete) return;
    const error = toPublicError(thrown, report);
    rejection.httpStatus = statusOf(error);
    rejection.reason ||= error.rawMessage;
    app.rejections.add(route, rejection);
    const limits = rejection.httpStatus === 429 ? {} : app.limits.peek(route);
    sendError(response, error, limits);
  }
}

/** Handles a request whose route is known; fills in `rejection` on the way, for the case that it throws. */
async function deliver(hook: WebhookRequest, route: Route, rejection: Rejection): Promise<void> {
  const { app, request } = hook;
  const { limits } = app.config;
  const source = senderAddress(request.socket);
  app.limits.admit(route.orgId, source);
  if (!isAllowedSource(route.definition, source)) {
    rejection.reason = `The address ${source ?? "of the sender"} is not in allow_from.`;
    throw fail(Code.PermissionDenied, "This webhook does not accept requests from your address.");
  }
  const handshake = handshakeOf(route.definition);
  if (handshake !== null && (await answerPreflight(hook, route, handshake))) return;
  const kind = contentKindOf(request.headers["content-type"]);
  const isEvent = isCloudEvent(request.headers);
  const { signature, raw } = route.definition;
  if (kind === null && !isEvent && raw !== true) throw contentTypeError();
  inviteBody(request);
  const read = await readBody(request, { maxBytes: limits.webhookBytes, timeoutMs: bodyTimeoutMs });
  if (!read.ok) throw bodyError(read.code, read.message);
  const { body } = read;
  rejection.sizeBytes = body.byteLength;
  if (signature !== null) await verify(hook, route, rejection, body);
  const depth = limits.jsonDepth;
  const json = kind === "json" && !isEvent ? parseJsonObject(body, { depth }) : null;
  const content = json?.ok ? json : readOtherContent(request, route, kind, body, json, depth);
  rejection.payload = content.text;
  if (handshake !== null && (await answerEvent(hook, route, handshake, content.value, body.byteLength)))
    return;
  const deliveryId = signature === null ? null : readDeliveryId(signature, request.headers, content.value);
  const payload = raw === true ? readRaw(request, route, body) : content;
  rejection.payload = payload.text;
  const keyed = { headers: request.headers, body, deliveryId };
  const key = idempotencyKeyOf(route, keyed, limits.retentionDays * dayMs);
  await accept(hook, route, payload, key, body.byteLength);
}

/** @throws ConnectError 401 */
async function verify(
  { app, request }: WebhookRequest,
  route: Route,
  rejection: Rejection,
  body: Uint8Array,
): Promise<void> {
  const { signature } = route.definition;
  if (signature === null) return;
  const secrets = await secretsOf(app, route.orgId, signature.secrets);
  const url = `${app.baseUrl()}${originForm(request.url ?? "/")}`;
  const result = verifySignature(signature, secrets, rejection.headers, body, Date.now() / 1000, url);
  if (result.ok) return;
  rejection.reason = result.reason;
  const headers: Record<string, string> =
    signature.scheme === "basic" ? { "www-authenticate": 'Basic realm="webhook"' } : {};
  throw fail(Code.Unauthenticated, ruleMessages[result.rule], { status: 401, headers });
}

async function accept(
  { app, request, response }: WebhookRequest,
  route: Route,
  payload: Payload,
  key: IdempotencyKey | null,
  sizeBytes: number,
): Promise<void> {
  const headers = app.limits.charge(route);
  const kept = withoutCredentials(request.headers, route.definition.signature);
  const isMapped = route.mapping?.usesRequest === true;
  const sources = isMapped ? sourcesOfRequest(route, kept, request.url ?? "") : undefined;
  const received = { headers: JSON.stringify(kept), sizeBytes };
  const accepted = await app.trigger.accept(route, payload, key, received, sources);
  const { executionId, replayed } = accepted;
  headers.location = `/api/v1/executions/${executionId}`;
  if (replayed) headers["idempotent-replayed"] = "true";
  const { prefer } = request.headers;
  if (route.definition.respond === 200 && prefer === undefined) {
    response.writeHead(200, { "content-length": "0", ...headers });
    response.end();
    return;
  }
  if (prefer === undefined && !replayed) {
    sendJson(response, 202, `{"execution_id":"${executionId}","status":"queued"}`, headers);
    return;
  }
  const { status, waitSeconds, output, failure } = await app.waiters.result(route.orgId, accepted, prefer);
  if (waitSeconds !== null) headers["preference-applied"] = `wait=${waitSeconds}`;
  if (failure !== null) {
    sendJson(response, 500, { code: "internal", message: failure, execution_id: executionId }, headers);
  } else if (output !== null) {
    const text = `{"execution_id":"${executionId}","status":"${status}","output":${output}}`;
    sendJson(response, 200, text, headers);
  } else {
    sendJson(response, 202, { execution_id: executionId, status }, headers);
  }
}
