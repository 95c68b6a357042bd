/**
 * The hot path of webhooks: from the socket to a committed row without the RPC pipeline, whose unary call over HTTP costs
 * seven times as much. Its paths are the HTTP rules of TriggerWebhook; its work is `Trigger`'s.
 *
 * The order: the webhook is found; the sender's coarse limit; the body is read; its signature is checked; it is parsed;
 * the webhook's and the organization's limits are charged; the execution is queued.
 */
import { Code, type ConnectError } from "@connectrpc/connect";
import { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { fail, notFound, statusOf, toPublicError } from "../errors.ts";
import { isEnd } from "../executions/states.ts";
import { senderAddress } from "../sender.ts";
import type { App } from "../services/app.ts";
import { parseStored } from "../store/json.ts";
import { addressOf } from "../webhooks/address.ts";
import { isJsonContentType, readBody } from "../webhooks/body.ts";
import type { DeliveryRecord } from "../webhooks/delivery-log.ts";
import { idempotencyKeyOf } from "../webhooks/idempotency.ts";
import { parseJsonObject } from "../webhooks/json.ts";
import { parsePreferWait } from "../webhooks/prefer.ts";
import type { Route } from "../webhooks/route-table.ts";
import { readDelivery, ruleMessages, verifySignature } from "../webhooks/signatures/index.ts";
import type { Accepted, Payload, WebhookAddress } from "../webhooks/trigger.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { bodyError, jsonError } from "./body-error.ts";
import type { Match } from "./http-rule.ts";

const bodyTimeoutMs = 30_000;

/** Whether a match is one of the webhook paths. */
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
    const address = readAddress(hook);
    route = app.trigger.heldRoute(address) ?? (await app.trigger.route(address));
  } catch (error) {
    sendError(response, toPublicError(error, report));
    return;
  }
  const record: DeliveryRecord = {
    route,
    receivedAtMs: Date.now(),
    outcome: "rejected",
    httpStatus: 0,
    reason: "",
    executionId: null,
    sizeBytes: 0,
    headers: request.headers,
    payload: null,
  };
  try {
    await deliver(hook, route, record);
  } catch (thrown) {
    // Who hung up gets no answer, and has not been refused.
    if (request.destroyed && !request.complete) return;
    const error = toPublicError(thrown, report);
    record.httpStatus = statusOf(error);
    record.reason ||= error.rawMessage;
    app.deliveries.add(record);
    const limits = record.httpStatus === 429 ? {} : app.limits.peek(route);
    sendError(response, error, limits);
  }
}

function readAddress({ match, environment }: WebhookRequest): WebhookAddress {
  const { variables } = match;
  const address = addressOf(
    {
      orgId: variables.org_id ?? "",
      agentName: variables.agent_name ?? "",
      workflowName: variables.workflow_name ?? "",
      slug: variables.slug ?? "",
      webhookSlug: variables.webhook_slug ?? "",
    },
    environment,
  );
  if (address === null) throw notFound("There is no such webhook.");
  return address;
}

async function deliver(hook: WebhookRequest, route: Route, record: DeliveryRecord): Promise<void> {
  const { app, request, response } = hook;
  const { limits } = app.config;
  app.limits.admit(route.orgId, senderAddress(request.socket));
  if (!isJsonContentType(request.headers["content-type"])) throw jsonError("media_type", "");
  const read = await readBody(request, { maxBytes: limits.webhookBytes, timeoutMs: bodyTimeoutMs });
  if (!read.ok) throw bodyError(read.code, read.message);
  const { body } = read;
  record.sizeBytes = body.byteLength;
  const { signature } = route.definition;
  if (signature !== null) await verify(app, route, record, body);
  const payload = parseJsonObject(body, { depth: limits.jsonDepth });
  if (!payload.ok) throw jsonError(payload.code, payload.message);
  record.payload = payload.text;
  const delivery = signature === null ? null : readDelivery(signature, request.headers, payload.value);
  if (delivery !== null && delivery.challenge !== null) {
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", ...app.limits.peek(route) });
    response.end(delivery.challenge);
    return;
  }
  const key = idempotencyKeyOf(route, request.headers, delivery?.deliveryId ?? null, body);
  const headers = app.limits.charge(route);
  await accept(hook, route, record, payload, key, headers);
}

/** @throws ConnectError 401 */
async function verify(app: App, route: Route, record: DeliveryRecord, body: Uint8Array): Promise<void> {
  const { signature } = route.definition;
  if (signature === null) return;
  const values = await app.vault.values(route.orgId);
  const secrets = signature.secrets.flatMap((name) =>
    Object.hasOwn(values, name) ? [values[name] ?? ""] : [],
  );
  const verdict = verifySignature(signature, secrets, record.headers, body, Date.now() / 1000);
  if (verdict.ok) return;
  record.reason = verdict.reason;
  throw unsigned(ruleMessages[verdict.rule]);
}

function unsigned(message: string): ConnectError {
  return fail(Code.Unauthenticated, message, { status: 401 });
}

async function accept(
  { app, request, response }: WebhookRequest,
  route: Route,
  record: DeliveryRecord,
  payload: Payload,
  key: ReturnType<typeof idempotencyKeyOf>,
  limitHeaders: Record<string, string>,
): Promise<void> {
  const accepted = await app.trigger.accept(route, payload, key);
  const { executionId } = accepted;
  record.outcome = accepted.replayed ? "replayed" : "accepted";
  record.httpStatus = 202;
  record.executionId = executionId;
  app.deliveries.add(record);
  const headers = limitHeaders;
  headers.location = `/api/v1/executions/${executionId}`;
  if (accepted.replayed) headers["idempotent-replayed"] = "true";
  const { prefer } = request.headers;
  const waitSeconds = prefer === undefined ? null : parsePreferWait(prefer);
  if (waitSeconds === null || !app.waiters.enter()) {
    const status = accepted.replayed ? await statusNow(app, route, executionId) : "queued";
    sendJson(response, 202, `{"execution_id":"${executionId}","status":"${status}"}`, headers);
    return;
  }
  try {
    await sendWhenEnded(app, response, route.orgId, accepted, waitSeconds, headers);
  } finally {
    app.waiters.leave();
  }
}

async function statusNow(app: App, route: Route, executionId: string): Promise<string> {
  return (await app.waiters.wait(route.orgId, executionId, 0))?.status ?? "queued";
}

/** Answers with the output when the execution ends in time; with 202 when it is still going then. */
async function sendWhenEnded(
  app: App,
  response: Response,
  orgId: string,
  { executionId }: Accepted,
  waitSeconds: number,
  headers: Record<string, string>,
): Promise<void> {
  headers["preference-applied"] = `wait=${waitSeconds}`;
  const row = await app.waiters.wait(orgId, executionId, waitSeconds * 1000);
  if (row === undefined || !isEnd(row.status)) {
    sendJson(response, 202, { execution_id: executionId, status: row?.status ?? "queued" }, headers);
  } else if (row.status === "succeeded") {
    const output = row.output ?? "null";
    const text = `{"execution_id":"${executionId}","status":"succeeded","output":${output}}`;
    sendJson(response, 200, text, headers);
  } else {
    const error = row.error === null ? null : parseStored<{ name: string; message: string }>(row.error);
    const message = error === null ? `The execution was ${row.status}.` : `${error.name}: ${error.message}`;
    sendJson(response, 500, { code: "internal", message, execution_id: executionId }, headers);
  }
}
