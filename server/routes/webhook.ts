/**
 * The hot path of webhooks: from the socket to a committed row without the RPC pipeline, whose unary call over HTTP costs
 * seven times as much. Its paths are the HTTP rules of TriggerWebhook; its work is `Trigger`'s.
 */
import { Code } from "@connectrpc/connect";
import { WebhookService } from "../../proto/svc/v1/webhook_pb.ts";
import { fail, notFound, toPublicError } from "../errors.ts";
import { isEnd } from "../executions/states.ts";
import type { App } from "../services/app.ts";
import { parseStored } from "../store/json.ts";
import { addressOf } from "../webhooks/address.ts";
import { isJsonContentType, readBody } from "../webhooks/body.ts";
import { parseJsonObject } from "../webhooks/json.ts";
import { parsePreferWait } from "../webhooks/prefer.ts";
import type { Accepted } from "../webhooks/trigger.ts";
import { type Request, type Response, sendError, sendJson } from "./answer.ts";
import { bodyError, jsonError } from "./body-error.ts";
import type { Match } from "./http-rule.ts";

const bodyTimeoutMs = 30_000;

/** Whether a match is one of the webhook paths. */
export function isWebhook(match: Match): boolean {
  return match.rule.method === WebhookService.method.triggerWebhook;
}

export async function handleWebhook(
  app: App,
  request: Request,
  response: Response,
  match: Match,
  environment: string,
  report: (error: unknown) => void,
): Promise<void> {
  try {
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
    const route = await app.trigger.route(address);
    if (!isJsonContentType(request.headers["content-type"])) throw jsonError("media_type", "");
    const { limits } = app.config;
    const body = await readBody(request, { maxBytes: limits.webhookBytes, timeoutMs: bodyTimeoutMs });
    if (!body.ok) throw bodyError(body.code, body.message);
    const payload = parseJsonObject(body.body, { depth: limits.jsonDepth });
    if (!payload.ok) throw jsonError(payload.code, payload.message);
    const accepted = await app.trigger.accept(route, payload);
    const location = { location: `/api/v1/executions/${accepted.executionId}` };
    const waitSeconds = parsePreferWait(request.headers.prefer);
    if (waitSeconds === null || !app.waiters.enter()) {
      const text = `{"execution_id":"${accepted.executionId}","status":"queued"}`;
      sendJson(response, 202, text, location);
      return;
    }
    try {
      await sendWhenEnded(app, response, accepted, waitSeconds, location);
    } finally {
      app.waiters.leave();
    }
  } catch (error) {
    if (request.destroyed && !request.complete) return;
    sendError(response, toPublicError(error, report));
  }
}

/** Answers with the output when the execution ends in time; with 202 when it is still going then. */
async function sendWhenEnded(
  app: App,
  response: Response,
  accepted: Accepted,
  waitSeconds: number,
  location: Record<string, string>,
): Promise<void> {
  const headers = { ...location, "preference-applied": `wait=${waitSeconds}` };
  const row = await app.waiters.wait(accepted.orgId, accepted.executionId, waitSeconds * 1000);
  const execution_id = accepted.executionId;
  if (row === undefined || !isEnd(row.status)) {
    sendJson(response, 202, { execution_id, status: row?.status ?? "queued" }, headers);
  } else if (row.status === "succeeded") {
    const output = row.output ?? "null";
    sendJson(
      response,
      200,
      `{"execution_id":"${execution_id}","status":"succeeded","output":${output}}`,
      headers,
    );
  } else {
    const error = row.error === null ? null : parseStored<{ name: string; message: string }>(row.error);
    const message = error === null ? `The execution was ${row.status}.` : `${error.name}: ${error.message}`;
    const failure = fail(Code.Internal, message);
    sendJson(response, 500, { code: "internal", message: failure.rawMessage, execution_id }, headers);
  }
}
