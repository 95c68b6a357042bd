/** Operations of several processes at once, on both engines: each handle stands for a process. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { requeueAbandoned } from "../../server/executions/requeue-abandoned.ts";
import { firstOrderedId, orderedId } from "../../server/ids.ts";
import { all, type Engine } from "../../server/store/engine.ts";
import {
  cancelExecutions,
  type ExecutionFilter,
  type ExecutionRow,
  getExecution,
  idRange,
  listExecutions,
} from "../../server/store/tables/executions.ts";
import { acceptExecutions, type Once } from "../../server/store/tables/idempotency.ts";
import {
  claimExecutions,
  extendLeases,
  finishExecutions,
  listExpiredOwners,
} from "../../server/store/tables/leases.ts";
import { allLogs, firstLogs, insertLogs, type LogRow, type NewLog } from "../../server/store/tables/logs.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { newScheduler, runsOf, SimulatedClock, ticksOf } from "../service/simulation.ts";
import { newExecution as newExecutionOf } from "../support/executor.ts";
import { activateSchedules, orgId } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

const deploymentId = orderedId("dep");

function newExecution(over: Partial<NewExecution> = {}): NewExecution {
  return { ...newExecutionOf(deploymentId), created_at: 1_000, ...over };
}

function entry(message: string): NewLog {
  const of = { execution_id: null, deployment_id: null, name: null, environment: null };
  return { org_id: orgId, at: 1_000, level: "info", source: "deployment", message, ...of };
}

const row = async (engine: Engine, id: string): Promise<ExecutionRow> => {
  const found = await engine.read(() => getExecution(orgId, id));
  if (found === undefined) throw new Error("There is no such execution.");
  return found;
};

describe.each(engineNames)("several processes on %s", (name) => {
  async function handles(count: number): Promise<Engine[]> {
    const store = await stores[name]();
    const first = await store.open();
    return [first, ...(await Promise.all(Array.from({ length: count - 1 }, () => store.open())))];
  }

  test("number log entries without gaps, and a reader skips none", async () => {
    const writers = await handles(3);
    const reader = writers[0] as Engine;
    const toEnd = (rows: readonly LogRow[]) => ({
      above: rows.at(-1)?.seq ?? 0,
      upTo: Number.MAX_SAFE_INTEGER,
    });
    let writing = true;
    const follow = async (): Promise<LogRow[]> => {
      const seen: LogRow[] = [];
      for (;;) {
        const isLast = !writing;
        const rows = await reader.read(() => firstLogs(orgId, allLogs, toEnd(seen), 7));
        seen.push(...rows);
        if (isLast && rows.length === 0) break;
        // SQLite answers at once: the writers need the event loop.
        await setImmediate();
      }
      return seen;
    };
    const following = follow();
    await Promise.all(
      writers.flatMap((engine, writer) =>
        Array.from({ length: 30 }, (_, n) =>
          engine.write(() => insertLogs([entry(`${writer}/${n}/a`), entry(`${writer}/${n}/b`)])),
        ),
      ),
    );
    writing = false;
    const seen = await following;
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 180 }, (_, index) => index + 1));
    expect(new Set(seen.map(({ message }) => message)).size).toBe(180);
  });

  test("list every execution that was committed before the first page, whatever its id", async () => {
    const [one, two] = (await handles(2)) as [Engine, Engine];
    const at = (ms: number) => newExecution({ execution_id: firstOrderedId("exe", ms), created_at: ms });
    const filter: ExecutionFilter = {
      ...{ environment: "", status: "", name: "", kind: "", origin: "", contains: "" },
      ...{ since: 0, until: 0 },
    };
    await one.write(() => insertExecutions([at(10), at(20), at(40), at(50)]));
    const page = await two.read(() => listExecutions(orgId, filter, idRange(filter, ""), 2));
    expect(page.map(({ created_at }) => created_at)).toEqual([50, 40]);
    // Another process commits ids on both sides of the cursor.
    await one.write(() => insertExecutions([at(30), at(60)]));
    const before = page.at(-1)?.execution_id ?? "";
    const rest = await two.read(() => listExecutions(orgId, filter, idRange(filter, before), 10));
    expect(rest.map(({ created_at }) => created_at)).toEqual([30, 20, 10]);
  });

  test("accept one execution for an idempotency key, and one more after it failed", async () => {
    const engines = await handles(2);
    const once: Once = {
      ...{ webhook: "production/agent/agent/in", key: "k", bodyHash: "h" },
      ...{ lifetimeMs: 60_000, runsAfterFailure: true },
    };
    const acceptAll = async (over: Partial<Once> = {}) => {
      const results = await Promise.all(
        engines.flatMap((engine) =>
          Array.from({ length: 10 }, () =>
            engine.write(() =>
              acceptExecutions(
                [
                  { execution: newExecution(), once: { ...once, ...over } },
                  { execution: newExecution(), once: { ...once, ...over } },
                ],
                1_000,
              ),
            ),
          ),
        ),
      );
      return results.flat();
    };
    const first = await acceptAll();
    const [id = ""] = new Set(first.map(({ executionId }) => executionId));
    expect(first).toEqual(first.map(() => ({ executionId: id, sameBody: true })));
    const [engine] = engines as [Engine];
    expect((await acceptAll({ bodyHash: "other" })).every(({ sameBody }) => !sameBody)).toBe(true);
    const [claimed] = await engine.write(() => claimExecutions(deploymentId, 1, "srv_a", 2_000, 1_000));
    const lease = claimed as ExecutionRow;
    await engine.write(() =>
      finishExecutions([{ lease, status: "failed", output: null, error: "{}", atMs: 1_500 }]),
    );
    const second = new Set((await acceptAll()).map(({ executionId }) => executionId));
    expect(second.size).toBe(1);
    expect(second.has(id)).toBe(false);
    expect(await engine.read(() => all("SELECT execution_id FROM executions"))).toHaveLength(2);
  });

  test("claim each execution once", async () => {
    const engines = await handles(3);
    const [engine] = engines as [Engine];
    const rows = Array.from({ length: 120 }, () => newExecution());
    await engine.write(() => insertExecutions(rows));
    const claimed = await Promise.all(
      engines.map(async (engine, worker) => {
        const own: string[] = [];
        for (;;) {
          const batch = await engine.write(() =>
            claimExecutions(deploymentId, 7, `srv_${worker}`, 9_000, 2_000),
          );
          if (batch.length === 0) return own;
          own.push(...batch.map(({ execution_id }) => execution_id));
        }
      }),
    );
    expect(claimed.flat().sort()).toEqual(rows.map(({ execution_id }) => execution_id).sort());
  });

  test("requeue the executions of a lost worker once, and count no loss against any of them", async () => {
    const engines = await handles(2);
    const [engine] = engines as [Engine];
    const rows = [newExecution(), newExecution(), newExecution()];
    await engine.write(() => insertExecutions(rows));
    await engine.write(() => claimExecutions(deploymentId, 3, "srv_lost", 2_000, 1_000));
    await Promise.all(
      engines.map((engine, survivor) =>
        requeueAbandoned(
          engine,
          () => listExpiredOwners(`srv_${survivor}`, 3_000),
          (held) => held.some(({ lease_until }) => (lease_until ?? 0) <= 3_000),
          "The lease expired.",
        ),
      ),
    );
    for (const { execution_id } of rows) {
      expect(await row(engine, execution_id)).toMatchObject({
        ...{ status: "queued", losses: 1, runner_losses: 0, alone: 0 },
      });
    }
    const log = await engine.read(() => all("SELECT seq FROM logs"));
    expect(log).toHaveLength(3);
    // A worker that continued in the meantime keeps its executions.
    await engine.write(() => claimExecutions(deploymentId, 3, "srv_back", 4_000, Date.now()));
    const listed = await engine.read(() => listExpiredOwners("srv_0", 5_000));
    expect(listed).toEqual(["srv_back"]);
    await engine.write(() => extendLeases("srv_back", 9_000));
    await requeueAbandoned(
      engine,
      // biome-ignore lint/correctness/useYield: the list was read before
      function* () {
        return listed;
      },
      (held) => held.some(({ lease_until }) => (lease_until ?? 0) <= 5_000),
      "The lease expired.",
    );
    for (const { execution_id } of rows) {
      expect(await row(engine, execution_id)).toMatchObject({ status: "running", losses: 1 });
    }
  });

  test("cancel an execution that another process claims or finishes at the same time", async () => {
    const [one, two] = (await handles(2)) as [Engine, Engine];
    for (let round = 0; round < 15; round++) {
      const execution = newExecution();
      const id = execution.execution_id;
      await one.write(() => insertExecutions([execution]));
      const [claimed] = await Promise.all([
        one.write(() => claimExecutions(deploymentId, 1, "srv_a", 9_000, 2_000)),
        two.write(() => cancelExecutions(orgId, [id], 2_000)),
      ]);
      const found = await row(one, id);
      expect([found.status, found.cancel_requested]).toEqual([
        claimed.length === 0 ? "cancelled" : "running",
        1,
      ]);
      const [lease] = claimed;
      if (lease === undefined) continue;
      const ending = { lease, status: "cancelled", output: null, error: null, atMs: 2_000 } as const;
      expect(await one.write(() => finishExecutions([ending]))).toHaveLength(1);
    }
  });

  test("run each tick of a schedule once, and one run of a schedule at a time", async () => {
    const engines = await handles(2);
    const [engine] = engines as [Engine];
    const clock = new SimulatedClock(Date.parse("2026-01-01T00:00:30Z"));
    const names = Array.from({ length: 12 }, (_, number) => `s${number}`);
    const overlaps = ["allow", "skip", "queue"] as const;
    await activateSchedules(
      engine,
      Object.fromEntries(
        names.map((name, number) => [name, { cron: "* * * * *", overlap: overlaps[number % 3] ?? "skip" }]),
      ),
      clock.wallMs(),
    );
    const schedulers = engines.map((engine) => newScheduler(engine, clock).scheduler);
    // Schedulers that are awake before the first tick.
    await Promise.all(schedulers.map((scheduler) => scheduler.pass()));
    for (let minute = 0; minute < 4; minute++) {
      clock.advance(60_000);
      await Promise.all(schedulers.map((scheduler) => scheduler.pass()));
    }
    const ticks = await ticksOf(engine);
    const runs = await runsOf(engine);
    expect(ticks).toHaveLength(48);
    const started = ticks.filter(({ outcome }) => outcome === "run");
    expect(new Set(started.map(({ executionId }) => executionId))).toEqual(new Set(runs.map(({ id }) => id)));
    const perName = names.map((name) => runs.filter((run) => run.name === name).length);
    // No run ends here: schedules that do not allow overlaps have one.
    expect(perName).toEqual(names.map((_, number) => (number % 3 === 0 ? 4 : 1)));
    for (const scheduler of schedulers) await scheduler.close();
  });
});
