/**
 * Streams that follow the store. A stream registers its watcher, reads and sends the stored entries, and reads again when
 * the watcher fires. All entries come from the store in log order, so none is lost or repeated.
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
import { fail } from "../errors.ts";
import { executionTopic, logTopic, watch } from "../executions/notifier.ts";
import { isEnd } from "../executions/states.ts";
import { type ExecutionRow, getExecution } from "../store/tables/executions.ts";
import { allLogs, type LogRow } from "../store/tables/logs.ts";
import type { App } from "./app.ts";
import { toExecution, toLogLine } from "./convert.ts";
import { filterOf } from "./logs/filter.ts";
import { Members } from "./logs/members.ts";
import { type Follow, LogReader } from "./logs/reader.ts";

/** How often a stream reads without a notification: another process may have written. */
const fallbackMs = 1_000;
const defaultLines = 100;

export async function* watchExecution(
  app: App,
  orgId: string,
  request: WatchExecutionRequest,
  signal: AbortSignal,
  limited: boolean,
): AsyncGenerator<WatchExecutionResponse> {
  const { executionId } = request;
  const stopped = AbortSignal.any([signal, app.closing]);
  const watcher = watch(app.notifier, [executionTopic(executionId), logTopic(orgId)], fallbackMs);
  const filter = { ...allLogs, executionIds: [executionId] };
  const log = new LogReader(app.engine, orgId, filter, request.after === "" ? 0 : readCursor(request.after));
  let sent = "";
  let follow: Follow | undefined;
  let row: ExecutionRow | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  // Most notifications are about log entries of other executions.
  const unsubscribe = app.notifier.subscribe(executionTopic(executionId), () => {
    readAtMs = Number.NEGATIVE_INFINITY;
  });
  const read = (): Promise<ExecutionRow | undefined> => {
    readAtMs = performance.now();
    return app.engine.read(() => getExecution(orgId, executionId));
  };
  try {
    while (!stopped.aborted) {
      // The state is read before the log: once it is final, the log of the execution is complete.
      if (performance.now() - readAtMs >= fallbackMs) {
        row = await (follow === undefined ? read() : follow.pace.read(read));
      }
      if (row === undefined) return;
      if (isEnd(row.status)) await app.logs.flush();
      const first = sent === "";
      const state = `${row.status} ${row.attempt} ${row.losses}`;
      if (first || (state !== sent && !isEnd(row.status))) yield executionEvent(row);
      sent = state;
      for await (const entries of log.read(follow)) {
        for (const entry of entries) {
          yield create(WatchExecutionResponseSchema, { event: { case: "log", value: toLogLine(entry) } });
        }
      }
      if (isEnd(row.status)) {
        if (!first) yield executionEvent(row);
        return;
      }
      await watcher.next(stopped);
      follow = app.follow;
    }
  } finally {
    watcher.stop();
    unsubscribe();
  }

  function executionEvent(row: Parameters<typeof toExecution>[0]): WatchExecutionResponse {
    return create(WatchExecutionResponseSchema, {
      event: { case: "execution", value: toExecution(row, limited) },
    });
  }
}

export async function* tailLogs(
  app: Pick<App, "engine" | "notifier" | "closing" | "follow">,
  orgId: string,
  request: TailLogsRequest,
  signal: AbortSignal,
): AsyncGenerator<TailLogsResponse> {
  const { engine } = app;
  const { executionId, since, after } = request;
  const withChildren = request.includeChildren && executionId !== "";
  const members = withChildren ? new Members(engine, orgId, executionId) : undefined;
  const position = after === "" ? 0 : readCursor(after);
  const log = new LogReader(engine, orgId, filterOf(request), position, members);
  const stopped = AbortSignal.any([signal, app.closing]);
  const watcher = watch(app.notifier, [logTopic(orgId)], fallbackMs);
  let isComplete = true;
  let follow: Follow | undefined;
  try {
    if (after === "" && request.lines === undefined && since !== undefined) await log.startAtTime();
    else if (after === "") yield* (await log.tail(request.lines ?? defaultLines)).map(toResponse);
    do {
      for await (const rows of log.read(follow)) for (const row of rows) yield toResponse(row);
      if (members?.isComplete === false && isComplete) {
        isComplete = false;
        yield create(TailLogsResponseSchema, { executionsOmitted: true });
      }
      if (!request.follow) return;
      await watcher.next(stopped);
      follow = app.follow;
    } while (!stopped.aborted);
  } finally {
    watcher.stop();
  }
}

/** Streams that share a row share its message. */
const responses = new WeakMap<LogRow, TailLogsResponse>();

function toResponse(row: LogRow): TailLogsResponse {
  const known = responses.get(row);
  if (known !== undefined) return known;
  const response = create(TailLogsResponseSchema, { log: toLogLine(row) });
  responses.set(row, response);
  return response;
}

/** The position of the entry. Earlier versions appended the id of an execution. */
const cursorForm = /^(\d{1,15})(?:\.[0-9a-z]{26})?$/;

/** @throws ConnectError `invalid_argument` */
function readCursor(text: string): number {
  const match = cursorForm.exec(text);
  if (match === null) {
    throw fail(
      "INVALID_CURSOR",
      `Cannot use after '${text.slice(0, 40)}': it must be the cursor of a log entry.`,
      { metadata: { field: "after" } },
    );
  }
  return Number(match[1]);
}
