/**
 * The hot path of webhooks: from the socket to a committed row without the RPC pipeline, whose unary call over HTTP costs
 * seven times as much. The paths are the HTTP rules of TriggerWebhook, and `Trigger` accepts the request.
 *
 * The order: find the route, apply the sender's coarse limit, read the body, verify the signature, parse, charge the
 * limits of the webhook and the organization, queue the execution.
 */
import type { ConnectError } from "@connectrpc/connect";
import { WebhookService } from "../../../proto/svc/v1/webhook_pb.ts";
import { reasonIn } from "../../errors/details.ts";
import { executionFailure, fail, statusOf, toPublicError } from "../../errors.ts";
import type { App } from "../../services/app.ts";
import { metrics } from "../../telemetry/metrics/index.ts";
import type { RequestSpan } from "../../telemetry/tracing/tracer.ts";
import { readBody } from "../../webhooks/body.ts";
import { isCloudEvent } from "../../webhooks/content/cloud-event.ts";
import { contentKindOf } from "../../webhooks/content/kind.ts";
import { withoutCredentials } from "../../webhooks/credentials.ts";
import { handshakeOf } from "../../webhooks/handshakes/index.ts";
import { type IdempotencyKey, idempotencyKeyOf } from "../../webhooks/idempotency.ts";
import { parseJsonObject } from "../../webhooks/json.ts";
import { sourcesOfRequest } from "../../webhooks/mapping-sources.ts";
import type { Rejection } from "../../webhooks/rejection-log.ts";
import type { Route } from "../../webhooks/route-table.ts";
import { readDeliveryId, signedFields, signsDeliveryId } from "../../webhooks/signatures/index.ts";
import { isAllowedSource } from "../../webhooks/source.ts";
import type { Payload } from "../../webhooks/trigger.ts";
import { noteExecution } from "../access-log.ts";
import { type Request, type Response, sendError, sendJson } from "../answer.ts";
import { bodyError, contentTypeError } from "../body-error.ts";
import { inviteBody } from "../body-pace.ts";
import type { Report } from "../report.ts";
import { requestIdOf } from "../request-id.ts";
import type { Match } from "../rest/http-rule.ts";
import { readAddress } from "./address.ts";
import { readOtherContent, readRaw } from "./content.ts";
import { answerEvent, answerPreflight } from "./handshake.ts";
import { acknowledgementOf, goneSignal, sendEmpty, sendResult } from "./response.ts";
import { verify } from "./verify.ts";

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
  report: Report;
  /** Null without tracing. */
  span: RequestSpan | null;
}

export async function handleWebhook(hook: WebhookRequest): Promise<void> {
  const { app, response, report } = hook;
  let route: Route;
  try {
    const address = readAddress(hook.match, hook.environment);
    route = app.trigger.cachedRoute(address) ?? (await app.trigger.route(address));
  } catch (error) {
    const known = toPublicError(error, (cause) => report(cause, requestIdOf(hook.request)));
    metrics.webhooks.add("rejected", reasonIn(known));
    sendError(response, known);
    return;
  }
  await recorded(hook, route, (rejection) => deliver(hook, route, rejection));
}

/** Handles a request whose route is known, and records it when that throws. */
export async function recorded(
  { app, request, response, report }: WebhookRequest,
  route: Route,
  work: (rejection: Rejection) => Promise<void>,
): Promise<void> {
  const rejection: Rejection = {
    receivedAtMs: Date.now(),
    httpStatus: 0,
    reason: "",
    sizeBytes: 0,
    headers: request.headers,
    url: request.url ?? "",
    payload: null,
  };
  try {
    await work(rejection);
  } catch (thrown) {
    // The sender closed the connection before the request was complete: there is nothing to answer or record.
    if (request.destroyed && !request.complete) return;
    const error = toPublicError(thrown, (cause) => report(cause, requestIdOf(request)));
    metrics.webhooks.add("rejected", reasonIn(error));
    rejection.httpStatus = statusOf(error);
    rejection.reason ||= error.rawMessage;
    app.rejections.add(route, rejection);
    const limits = rejection.httpStatus === 429 ? {} : app.limits.peek(route);
    sendError(response, error, limits);
  }
}

/** Applies the limits that precede authentication. @throws ConnectError 403, 429 */
export function admit({ app, request }: WebhookRequest, route: Route, rejection: Rejection): void {
  const source = app.senders.addressOf(request);
  app.limits.admit(route.orgId, source);
  if (!isAllowedSource(route.definition, source)) {
    rejection.reason = `The address ${source ?? "of the sender"} is not in allow_from.`;
    throw fail("SENDER_NOT_ALLOWED", "This webhook does not accept requests from your address.");
  }
}

/** Handles a POST request; fills in `rejection` on the way, for the case that it throws. */
async function deliver(hook: WebhookRequest, route: Route, rejection: Rejection): Promise<void> {
  const { app, request } = hook;
  const { limits } = app.config;
  admit(hook, route, rejection);
  const { methods } = route.definition;
  if (methods !== undefined && !methods.includes("POST")) throw notPosted();
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
  if (signature !== null) await verify(app, request, route, rejection, body);
  const depth = limits.jsonDepth;
  const json = kind === "json" && !isEvent ? parseJsonObject(body, { depth }) : null;
  const content = json?.ok ? json : readOtherContent(request, route, kind, body, json, depth);
  if (handshake !== null && (await answerEvent(hook, route, handshake, content.value, body.byteLength)))
    return;
  await finish(hook, route, rejection, { content, body, bytes: body, isPlain: json?.ok === true });
}

/** A request whose signature was verified. */
interface Verified {
  content: Payload;
  body: Uint8Array;
  /** The body, or the query of a GET request: an idempotency key belongs to them. */
  bytes: Uint8Array;
  /** Whether the body alone, and no header, decides how the payload is read. */
  isPlain?: boolean;
}

/** Accepts or ignores a request whose signature was verified. */
export function finish(
  hook: WebhookRequest,
  route: Route,
  rejection: Rejection,
  { content, body, bytes, isPlain = false }: Verified,
): Promise<void> {
  const { app, request } = hook;
  const { signature, raw } = route.definition;
  rejection.payload = content.text;
  if (route.filter !== null && ignore(hook, route, rejection, content)) return Promise.resolve();
  // A signature does not cover the content type and the headers of CloudEvents, which decide how the payload is read.
  const isRead = signature === null || isPlain || !signsDeliveryId(signature);
  const signed = isRead ? content.value : signedFields(body);
  const deliveryId = signature === null ? null : readDeliveryId(signature, request.headers, signed);
  const payload = raw === true ? readRaw(request, route, body) : content;
  rejection.payload = payload.text;
  const keyed = { headers: request.headers, body: bytes, deliveryId };
  const key = idempotencyKeyOf(route, keyed, app.config.limits.retentionDays * dayMs);
  return accept(hook, route, payload, key, bytes.byteLength);
}

function notPosted(): ConnectError {
  const headers = { allow: "GET, HEAD" };
  return fail("METHOD_NOT_ALLOWED", "This webhook accepts GET requests only.", { headers });
}

/** Responds to a request that the filter ignores. False for other requests. @throws ConnectError 429 */
function ignore(hook: WebhookRequest, route: Route, rejection: Rejection, content: Payload): boolean {
  const { app, request, response } = hook;
  const reason = app.trigger.ignores(route, content.value, request.headers, request.url ?? "");
  if (reason === null) return false;
  const headers = app.limits.charge(route);
  const httpStatus = acknowledgementOf(route.definition);
  app.rejections.add(route, { ...rejection, httpStatus, reason }, "ignored");
  if (httpStatus === 200) sendEmpty(response, headers);
  else sendJson(response, 202, '{"status":"ignored"}', headers);
  return true;
}

async function accept(
  { app, request, response, span }: WebhookRequest,
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
  const accepted = await app.trigger.accept(
    route,
    payload,
    key,
    received,
    sources,
    span === null ? null : span.context,
  );
  if (span !== null) span.executionId = accepted.executionId;
  const { executionId, replayed } = accepted;
  if (app.config.log.access) noteExecution(response, executionId);
  if (replayed) headers["idempotent-replayed"] = "true";
  const { prefer } = request.headers;
  const { respond } = route.definition;
  if (respond !== undefined && respond !== 200 && prefer === undefined) {
    return sendResult(app, response, route, accepted, respond, headers);
  }
  headers.location = `/api/v1/executions/${executionId}`;
  if (respond === 200 && prefer === undefined) {
    sendEmpty(response, headers);
    return;
  }
  if (prefer === undefined && !replayed) {
    sendJson(response, 202, `{"execution_id":"${executionId}","status":"queued"}`, headers);
    return;
  }
  const { status, waitSeconds, output, failure } = await app.waiters.result(
    route.orgId,
    accepted,
    prefer,
    goneSignal(response),
  );
  if (response.destroyed) return;
  if (waitSeconds !== null) headers["preference-applied"] = `wait=${waitSeconds}`;
  if (failure !== null) {
    sendJson(response, 500, executionFailure(failure, executionId), headers);
  } else if (output !== null) {
    const text = `{"execution_id":"${executionId}","status":"${status}","output":${output}}`;
    sendJson(response, 200, text, headers);
  } else {
    sendJson(response, 202, { execution_id: executionId, status }, headers);
  }
}
