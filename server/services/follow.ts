/**
 * Streams that follow the store: a watcher is set up, what is there is read and sent, then the watcher says when to look
 * again. Since all lines come from the store in the order of their cursors, none is lost or repeated.
 */
import { create } from "@bufbuild/protobuf";
import {
  type TailLogsRequest,
  type TailLogsResponse,
  TailLogsResponseSchema,
  type WatchExecutionRequest,
  type WatchExecutionResponse,
  WatchExecutionResponseSchema,
} from "../../proto/svc/v1/execution_pb.ts";
import { invalid } from "../errors.ts";
import { executionTopic, logTopic, watch } from "../executions/notifier.ts";
import { isEnd } from "../executions/states.ts";
import { getExecution } from "../store/executions.ts";
import { type LogCursor, type LogRow, lastLogs, logStart, logsAfter } from "../store/logs.ts";
import type { App } from "./app.ts";
import { toExecution, toLogLine } from "./convert.ts";

/** How often to look for what another process wrote. */
const fallbackMs = 1_000;
const batchLines = 500;
const defaultLines = 100;
const maxLines = 10_000;

export async function* watchExecution(
  app: App,
  orgId: string,
  request: WatchExecutionRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchExecutionResponse> {
  const { executionId } = request;
  const either = AbortSignal.any([signal, app.closing]);
  const watcher = watch(app.notifier, [executionTopic(executionId), logTopic(orgId)], fallbackMs);
  let after = request.after === "" ? logStart : readCursor(request.after);
  let sent = "";
  try {
    while (!either.aborted) {
      // The state is read before the lines: when it is an end, all lines of the execution are there.
      const row = await app.engine.read(() => getExecution(orgId, executionId));
      if (row === undefined) return;
      if (isEnd(row.status)) await app.logs.flush();
      const first = sent === "";
      const state = `${row.status} ${row.attempt} ${row.losses}`;
      if (first || (state !== sent && !isEnd(row.status))) yield executionEvent(row);
      sent = state;
      for await (const line of linesAfter(
        app,
        orgId,
        { name: "", executionId, environment: "", audit: false },
        after,
      )) {
        after = line.cursor;
        yield create(WatchExecutionResponseSchema, { event: { case: "log", value: toLogLine(line) } });
      }
      if (isEnd(row.status)) {
        if (!first) yield executionEvent(row);
        return;
      }
      await watcher.next(either);
    }
  } finally {
    watcher.stop();
  }

  function executionEvent(row: Parameters<typeof toExecution>[0]): WatchExecutionResponse {
    return create(WatchExecutionResponseSchema, { event: { case: "execution", value: toExecution(row) } });
  }
}

export async function* tailLogs(
  app: App,
  orgId: string,
  request: TailLogsRequest,
  signal: AbortSignal,
): AsyncGenerator<TailLogsResponse> {
  const lines = request.lines ?? defaultLines;
  if (lines > maxLines) throw invalid(`Cannot send ${lines} lines: lines must be from 0 to ${maxLines}.`);
  const filter = {
    name: request.name,
    executionId: request.executionId,
    environment: request.environment,
    audit: request.audit,
  };
  const either = AbortSignal.any([signal, app.closing]);
  const watcher = watch(app.notifier, [logTopic(orgId)], fallbackMs);
  try {
    let after = request.after === "" ? logStart : readCursor(request.after);
    if (request.after === "") {
      const last = await app.engine.read(() => lastLogs(orgId, filter, lines));
      for (const row of last.rows) yield toResponse(row);
      after = last.end;
    }
    do {
      for await (const row of linesAfter(app, orgId, filter, after)) {
        after = row.cursor;
        yield toResponse(row);
      }
      if (!request.follow) return;
      await watcher.next(either);
    } while (!either.aborted);
  } finally {
    watcher.stop();
  }
}

function toResponse(row: LogRow): TailLogsResponse {
  return create(TailLogsResponseSchema, { log: toLogLine(row) });
}

async function* linesAfter(
  app: App,
  orgId: string,
  filter: Parameters<typeof logsAfter>[1],
  after: LogCursor,
): AsyncGenerator<LogRow> {
  let cursor = after;
  for (;;) {
    const rows = await app.engine.read(() => logsAfter(orgId, filter, cursor, batchLines));
    for (const row of rows) {
      cursor = row.cursor;
      yield row;
    }
    // One table may have more when the other is at its end.
    if (rows.length < batchLines) return;
  }
}

const cursorForm = /^(\d{1,15})\.([0-9a-hjkmnp-tv-z]{26})$/;

/** @throws ConnectError `invalid_argument` */
function readCursor(text: string): LogCursor {
  const match = cursorForm.exec(text);
  if (match === null) {
    throw invalid(`Cannot go on after '${text.slice(0, 40)}': it must be the cursor of a log line.`);
  }
  return { seq: Number(match[1]), executionId: `exe_${match[2]}` };
}
