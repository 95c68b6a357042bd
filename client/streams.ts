/** Streams that continue after a broken connection without repeating entries. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client as ServiceClient } from "@connectrpc/connect";
import { type ExecutionService, LogLineSchema } from "../proto/svc/v1/execution_pb.ts";
import { toSvcError } from "./errors.ts";
import { isEnd, toExecution } from "./execution.ts";
import { plain } from "./plain.ts";
import { readResumable } from "./resume.ts";
import type { RetryPolicy } from "./retry.ts";
import type { LogLine, LogOptions, WatchEvent, WatchOptions } from "./types.ts";

/** What all streams of a client have in common. */
export interface Streams {
  service: ServiceClient<typeof ExecutionService>;
  policy: RetryPolicy;
}

/** The states and log entries of an execution, until it has ended and its log is complete. */
export async function* watchExecution(
  { service, policy }: Streams,
  executionId: string,
  { after = "", signal }: WatchOptions,
): AsyncGenerator<WatchEvent> {
  let cursor = after;
  let last = "";
  let over = false;
  try {
    const stream = readResumable({
      open: (ended) => service.watchExecution({ executionId, after: cursor }, { signal: ended }),
      isOver: () => over,
      policy,
      signal,
    });
    for await (const { event } of stream) {
      if (event.case === "log") {
        cursor = event.value.cursor;
        yield { type: "log", log: plain(LogLineSchema, event.value) };
      } else if (event.case === "execution") {
        const execution = toExecution(event.value);
        over = isEnd(execution);
        const state = `${execution.status} ${execution.attempt}`;
        if (state !== last) yield { type: "execution", execution };
        last = state;
      }
    }
  } catch (error) {
    throw toSvcError(error, signal, executionId);
  }
}

/** Entries that one request may ask for. */
const maxLines = 10_000;

/** The last log entries, oldest first, and new ones with `follow`. */
export async function* tailLogs({ service, policy }: Streams, options: LogOptions): AsyncGenerator<LogLine> {
  const { signal, after = "", follow = false, since, lines, ...others } = options;
  const filter = { ...others, since: since && timestampFromDate(since) };
  let cursor = after;
  let isFirst = true;
  // Without `lines`, `since` asks for all entries.
  const again = lines === undefined && since !== undefined ? undefined : maxLines;
  try {
    if (follow && lines === 0 && after === "") {
      // The present end of the log, so that a reconnection does not miss entries.
      for await (const { log } of service.tailLogs(
        { ...filter, lines: 1 },
        { signal: signal ?? undefined },
      )) {
        cursor = log?.cursor ?? "";
      }
    }
    const stream = readResumable({
      open(ended) {
        // Without a cursor, a reconnection that follows asks for all entries, since every one is new.
        const count = isFirst || !follow ? lines : again;
        isFirst = false;
        const request = { ...filter, follow, after: cursor, ...(count !== undefined && { lines: count }) };
        return service.tailLogs(request, { signal: ended });
      },
      isOver: () => !follow,
      policy,
      signal,
    });
    for await (const { log } of stream) {
      if (log === undefined) continue;
      cursor = log.cursor;
      yield plain(LogLineSchema, log);
    }
  } catch (error) {
    throw toSvcError(error, signal, filter.executionId);
  }
}
