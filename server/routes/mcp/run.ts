/** Starts an execution and waits for its end. The execution continues when the client does not wait so long. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../project/json.ts";
import { ExecutionService } from "../../../proto/svc/v1/execution_pb.ts";
import { isEnd } from "../../executions/states.ts";
import { callStream, callUnary, type Session } from "../internal/calls.ts";
import type { UnaryMethod } from "../internal/local-calls.ts";
import { failure, jsonResult, type Progress, structuredResult } from "./tool.ts";

/** Clients give up after 60 s by default, unless they get progress meanwhile. */
const waitMs = 50_000;
const waitWithProgressMs = 600_000;
/** Log entries that one call sends as progress. */
const maxProgress = 1_000;

/**
 * @param method - RunExecution or ReplayExecution
 * @param isStructured - the target has a schema of its output
 */
export async function runAndWait(
  session: Session,
  method: UnaryMethod,
  request: JsonObject,
  progress: Progress,
  isStructured = false,
): Promise<JsonObject> {
  const started = await callUnary(session, method, request);
  const id = String(started.execution_id);
  const ms = progress === null ? waitMs : waitWithProgressMs;
  const ended = isEnd(started.status as never) ? started : await waitForEnd(session, id, ms, progress);
  if (ended === null) {
    return failure(
      `The execution ${id} has not finished within ${ms / 1000} s. It continues; svc_show_execution shows its result.`,
    );
  }
  return resultOf(ended, isStructured);
}

async function waitForEnd(
  session: Session,
  executionId: string,
  ms: number,
  progress: Progress,
): Promise<JsonObject | null> {
  const expired = AbortSignal.timeout(ms);
  const signal = AbortSignal.any([session.signal, expired]);
  let sent = 0;
  try {
    const request = { execution_id: executionId };
    for await (const event of callStream(session, ExecutionService.method.watchExecution, request, signal)) {
      if (isJsonObject(event.execution) && isEnd(event.execution.status as never)) return event.execution;
      if (isJsonObject(event.log) && progress !== null && sent++ < maxProgress) {
        progress(String(event.log.message));
      }
    }
  } catch (error) {
    if (!expired.aborted || session.signal.aborted) throw error;
  }
  return null;
}

function resultOf(execution: JsonObject, isStructured: boolean): JsonObject {
  const { execution_id: id, status, error } = execution;
  const output: JsonValue = execution.output ?? null;
  if (status === "succeeded") {
    return isStructured && isJsonObject(output) ? structuredResult(output) : jsonResult(output);
  }
  const because = isJsonObject(error) ? `: ${error.name}: ${error.message}` : ".";
  return failure(`The execution ${id} ${status === "failed" ? "failed" : `was ${status}`}${because}`);
}
