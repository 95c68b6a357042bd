import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { type Streams, tailLogs } from "../../client/streams.ts";
import { LogLineSchema, TailLogsResponseSchema } from "../../proto/svc/v1/execution_pb.ts";

/** A log whose first stream breaks before it sends an entry. */
function brokenOnce(log: string[]) {
  const requests: object[] = [];
  let streams = 0;
  const entry = (message: string, index: number) =>
    create(TailLogsResponseSchema, {
      log: create(LogLineSchema, { message, cursor: String(index + 1) }),
    });
  async function* tail(request: { follow?: boolean; after?: string; lines?: number }) {
    requests.push(request);
    const entries = log.map(entry);
    if (!request.follow) return yield* entries.slice(-(request.lines ?? 100));
    if (++streams === 1) {
      log.push("written meanwhile");
      throw new ConnectError("reset", Code.Unavailable);
    }
    const { after = "", lines = 100 } = request;
    yield* after === "" ? entries.slice(lines === 0 ? entries.length : -lines) : entries.slice(Number(after));
  }
  const service = { tailLogs: tail } as unknown as Streams["service"];
  return { requests, streams: { service, policy: { attempts: 4, maxDelayMs: 1 } } };
}

test.each([[["before"]], [[]]])(
  "following without old entries misses none while the connection is broken, after %j",
  async (log) => {
    const { streams } = brokenOnce([...log]);
    for await (const { message } of tailLogs(streams, { follow: true, lines: 0 })) {
      expect(message).toBe("written meanwhile");
      return;
    }
    throw new Error("The entry was missed.");
  },
);
