/** A stream of log entries reads each entry once, also those that its filter leaves out. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { TailLogsRequestSchema } from "../../proto/svc/v1/execution_pb.ts";
import { Notifier } from "../../server/executions/notifier.ts";
import { tailLogs } from "../../server/services/follow.ts";
import { FollowPace } from "../../server/services/logs/follow-pace.ts";
import { SharedBatches } from "../../server/services/logs/shared-batches.ts";
import type { Engine, Program, Row, Statement } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { insertLogs } from "../../server/store/tables/logs.ts";

const orgId = "org_0";

test("a filter that matches nothing does not read the same entries again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-follow-"));
  const engine = openSqlite(folder);
  const stop = new AbortController();
  onTestFinished(async () => {
    stop.abort();
    await engine.close();
    rmSync(folder, { recursive: true });
  });
  const reads = new Reads(engine);
  await append(engine, 10);
  const app = {
    engine: reads.engine,
    notifier: new Notifier(engine),
    closing: stop.signal,
    follow: { pace: new FollowPace(stop.signal), batches: new SharedBatches() },
  };
  const request = create(TailLogsRequestSchema, { follow: true, lines: 0, environment: "none" });
  const end = tailLogs(app, orgId, request, stop.signal).next();
  const positions: unknown[] = [];
  for (const count of [1, 5, 20]) {
    const read = reads.next();
    await append(engine, count);
    positions.push(await read);
  }
  expect(positions).toEqual([10, 11, 16]);
  stop.abort();
  expect((await end).done).toBe(true);
});

/** Tells the position from which log entries are read. */
class Reads {
  readonly engine: Pick<Engine, "read"> & Engine;
  #told: ((position: unknown) => void) | null = null;

  constructor(engine: Engine) {
    this.engine = { ...engine, read: (program) => engine.read(() => this.#watch(program())) } as Engine;
  }

  next(): Promise<unknown> {
    return new Promise((resolve) => (this.#told = resolve));
  }

  *#watch<Result>(program: Program<Result>): Program<Result> {
    let rows: Row[] | undefined;
    for (;;) {
      const step = rows === undefined ? program.next() : program.next(rows);
      if (step.done === true) return step.value;
      const { sql, params } = step.value as Statement;
      rows = yield step.value;
      if (/^SELECT \* FROM logs .* ORDER BY seq LIMIT/s.test(sql)) this.#told?.(params[1]);
    }
  }
}

function append(engine: Engine, count: number): Promise<void> {
  const entry = {
    at: 0,
    level: "info",
    source: "console",
    message: "hello",
    execution_id: null,
    deployment_id: null,
    name: "agent",
    environment: "production",
  } as const;
  return engine.write(() => insertLogs(Array.from({ length: count }, () => ({ org_id: orgId, ...entry }))));
}
