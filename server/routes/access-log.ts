/** The access log (`SVC_ACCESS_LOG=1`): an entry of the server's log for each request, when its response has ended. */
import { performance } from "node:perf_hooks";
import { log } from "../telemetry/log/index.ts";
import type { Request, Response } from "./answer.ts";
import { requestIdOf } from "./request-id.ts";

const startedExecution: unique symbol = Symbol("execution");

/** Names the execution that a request has started or found. */
export function noteExecution(
  response: Response & { [startedExecution]?: string },
  executionId: string,
): void {
  response[startedExecution] = executionId;
}

/** Logs a request. The query is left out: that of a signed URL is a secret, and that of a webhook is the sender's data. */
export function logAccess(
  request: Request,
  response: Response & { [startedExecution]?: string },
  remote: string | undefined,
): void {
  const startedMs = performance.now();
  const { method = "" } = request;
  const [path = ""] = (request.url ?? "").split("?");
  response.once("close", () => {
    log.info(`${method} ${path}`, {
      method,
      path,
      // The sender has closed the connection before the response.
      status: response.headersSent ? response.statusCode : 499,
      duration_ms: Math.round((performance.now() - startedMs) * 1000) / 1000,
      request_id: requestIdOf(request),
      remote_address: remote,
      execution_id: response[startedExecution],
    });
  });
}
