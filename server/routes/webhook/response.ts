/** Responds to webhook requests with the result of their executions: `respond: output`. */
import type { OutputResponse, WebhookDefinition } from "../../../project/definition.ts";
import { executionFailure } from "../../errors.ts";
import type { AttemptResponse } from "../../executions/pool/contract.ts";
import type { App } from "../../services/app.ts";
import { parseStored } from "../../store/tables/json.ts";
import type { Route } from "../../webhooks/route-table.ts";
import type { Accepted } from "../../webhooks/trigger.ts";
import { type Response, sendJson } from "../answer.ts";

/**
 * The URL of a webhook has the origin of the API and the console. `sandbox` gives a page an origin of its own and no
 * scripts, for every content type that browsers render.
 */
const safety = { "content-security-policy": "sandbox", "x-content-type-options": "nosniff" };

/** The status of the response to a request that does not wait for its execution. */
export function acknowledgementOf({ respond }: WebhookDefinition): 200 | 202 {
  if (respond === undefined) return 202;
  return respond === 200 ? 200 : (respond.late ?? 202);
}

export function sendEmpty(response: Response, headers: Record<string, string>): void {
  response.writeHead(200, { "content-length": "0", ...headers });
  response.end();
}

/** Aborts when the sender closes the connection. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}

/** Waits for the response of the execution, or for its end, and sends it. */
export async function sendResult(
  app: App,
  response: Response,
  route: Route,
  { executionId }: Accepted,
  { timeoutSeconds, late }: OutputResponse,
  headers: Record<string, string>,
): Promise<void> {
  const gone = goneSignal(response);
  const result = await app.waiters.response(route.orgId, executionId, timeoutSeconds * 1000, gone);
  if (response.destroyed) return;
  if (result.response !== null) {
    sendResponse(response, parseStored<AttemptResponse>(result.response), headers);
  } else if (result.failure !== null) {
    sendJson(response, 500, executionFailure(result.failure, executionId), headers);
  } else if (result.output !== null) {
    sendJson(response, 200, result.output, { ...headers, ...safety });
  } else if (late === 200) {
    sendEmpty(response, headers);
  } else {
    sendJson(response, 202, { execution_id: executionId, status: result.status }, headers);
  }
}

function sendResponse(
  response: Response,
  { status, headers, body }: AttemptResponse,
  own: Record<string, string>,
): void {
  const length =
    status === 204 || status === 304 ? {} : { "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(status, { ...own, ...headers, ...length, ...safety });
  response.end(body);
}
