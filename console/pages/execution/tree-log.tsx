/** The log of an execution with the entries of its child executions. */
import { useRef, useState } from "preact/hooks";
import type { LogLine } from "../../../proto/svc/v1/execution_pb.ts";
import { LogView } from "../../components/log-view.tsx";
import { api } from "../../lib/api.ts";
import { useStream } from "../../lib/load.ts";

/** Entries that the page keeps; `svc logs` shows all. */
export const maxLines = 5_000;

/** The entries of the execution and of its child executions, in the order of their times. */
export function TreeLog({ id, live }: { id: string; live: boolean }) {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const cursor = useRef("");
  useStream(async (signal) => {
    const request = { executionId: id, includeChildren: true, follow: live, lines: maxLines };
    for await (const { log } of api.executions.tailLogs({ ...request, after: cursor.current }, { signal })) {
      if (log === undefined) continue;
      cursor.current = log.cursor;
      setLines((known) => [...known, log].slice(-maxLines));
    }
    return !live;
  }, `${id} ${live}`);
  return <LogView lines={lines} live={live} names />;
}
