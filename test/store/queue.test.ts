/** The queue and the log under concurrent handles, on both engines. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { orderedId } from "../../server/ids.ts";
import { claimColumns, claimedColumns } from "../../server/store/dialects/statements.ts";
import { all, type Engine, run } from "../../server/store/engine.ts";
import { getExecution } from "../../server/store/tables/executions.ts";
import { acceptExecutions } from "../../server/store/tables/idempotency.ts";
import {
  claimExecutions,
  finishExecutions,
  loseExecutions,
  type RunningExecution,
} from "../../server/store/tables/leases.ts";
import { allLogs, firstLogs, insertLogs, type LogRow, type NewLog } from "../../server/store/tables/logs.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { insertOrganization } from "../../server/store/tables/organizations.ts";
import { engineNames, stores } from "./stores.ts";

const orgId = `org_${"a".repeat(26)}`;
const deploymentId = `dep_${"a".repeat(26)}`;

function newExecution(createdAtMs = 1_000): NewExecution {
  return {
    org_id: orgId,
    execution_id: orderedId("exe"),
    kind: "agent",
    name: "job",
    origin: "webhook",
    deployment_id: deploymentId,
    environment: "production",
    input: "{}",
    created_at: createdAtMs,
  };
}

function newLog(message: string, org = orgId): NewLog {
  return {
    org_id: org,
    at: 1,
    level: "info",
    source: "console",
    message,
    execution_id: null,
    deployment_id: null,
    name: null,
    environment: null,
  };
}

describe.each(engineNames)("%s", (name) => {
  const twoHandles = async (): Promise<[Engine, Engine]> => {
    const store = await stores[name]();
    const handles: [Engine, Engine] = [await store.open(), await store.open()];
    await handles[0].write(() => insertOrganization({ org_id: orgId, name: "test", created_at: 1 }));
    return handles;
  };

  test("two handles claim each execution once, and finish each once", async () => {
    const handles = await twoHandles();
    const rows = Array.from({ length: 400 }, () => newExecution());
    await handles[0].write(() => insertExecutions(rows));
    const claimed: RunningExecution[] = [];
    const work = async (engine: Engine, owner: string): Promise<void> => {
      for (;;) {
        const own = await engine.write(() => claimExecutions(deploymentId, 15, owner, 99_000, 2_000));
        if (own.length === 0) return;
        claimed.push(...own);
        const endings = own.map((lease) => ({
          lease,
          status: "succeeded" as const,
          output: "1",
          error: null,
          atMs: 3_000,
        }));
        const held = await engine.write(() => finishExecutions(endings));
        expect(new Set(held)).toEqual(new Set(endings));
        // A late result has no effect.
        expect(await engine.write(() => finishExecutions(endings))).toEqual([]);
      }
    };
    await Promise.all(
      handles.flatMap((engine, index) => [work(engine, `${index}a`), work(engine, `${index}b`)]),
    );
    expect(claimed.map(({ execution_id }) => execution_id).toSorted()).toEqual(
      rows.map(({ execution_id }) => execution_id).toSorted(),
    );
    const open = "SELECT execution_id FROM executions WHERE status <> 'succeeded'";
    expect(await handles[1].read(() => all(open))).toEqual([]);
  });

  test("a claim returns the columns of the execution", async () => {
    const [engine] = await twoHandles();
    await engine.write(() => insertExecutions([newExecution()]));
    const set = `UPDATE executions SET response = '"r"', trace = 'trace', attempt = 2, losses = 3, runner_losses = 4, alone = 5,
      depth = 6, cancel_requested = 7, due_at = 1500`;
    await engine.write(() => run(set));
    const claimed = await engine.write(() => claimExecutions(deploymentId, 1, "one", 3_000, 2_000));
    const columns = [...claimedColumns, ...claimColumns].join(", ");
    const stored = await engine.read(() => all(`SELECT ${columns} FROM executions`));
    expect(claimed).toEqual(stored.map((row) => ({ ...row })));
    expect(claimed).toMatchObject([{ attempt: 2, losses: 3, runner_losses: 4, lease_owner: "one" }]);
  });

  test("a lease that was lost is not finished by its former owner", async () => {
    const [one, two] = await twoHandles();
    await one.write(() => insertExecutions([newExecution()]));
    const [lease] = await one.write(() => claimExecutions(deploymentId, 1, "one", 3_000, 2_000));
    if (lease === undefined) throw new Error("Nothing was claimed.");
    await two.write(() => loseExecutions([{ lease, counts: false, alone: false, dueAtMs: 2_000 }]));
    const [again] = await two.write(() => claimExecutions(deploymentId, 1, "two", 9_000, 4_000));
    expect(again).toMatchObject({ execution_id: lease.execution_id, losses: 1, attempt: 1 });
    const row = await one.read(() => getExecution(orgId, lease.execution_id));
    expect(row).toMatchObject({ started_at: 2_000, attempt_started_at: 4_000 });
    const ending = { status: "succeeded" as const, output: "1", error: null, atMs: 5_000 };
    expect(await one.write(() => finishExecutions([{ lease, ...ending }]))).toEqual([]);
    expect(
      await two.write(() => finishExecutions([{ lease: again as RunningExecution, ...ending }])),
    ).toHaveLength(1);
  });

  test("requests with one idempotency key get one execution, on two handles", async () => {
    const handles = await twoHandles();
    const once = {
      webhook: "production/agent/job/in",
      key: "k",
      bodyHash: "h",
      lifetimeMs: 98_000,
      runsAfterFailure: false,
    };
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (handles[index % 2] as Engine).write(() =>
          acceptExecutions([{ execution: newExecution(), once }], 1_000),
        ),
      ),
    );
    const ids = new Set(accepted.flat().map(({ executionId }) => executionId));
    expect(ids.size).toBe(1);
    expect(await handles[0].read(() => all("SELECT execution_id FROM executions"))).toEqual([
      { execution_id: [...ids][0] },
    ]);
  });

  test("a reader that follows the log sees every entry, in order, while two handles write", async () => {
    const handles = await twoHandles();
    const other = `org_${"b".repeat(26)}`;
    let written = false;
    const writes = Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        (handles[index % 2] as Engine).write(function* () {
          // Some commits are later than those of higher numbers would be without a lock.
          if (index % 3 === 0) yield* run("UPDATE organizations SET name = 'test' WHERE org_id = ?1", orgId);
          const first = index % 2 === 0 ? orgId : other;
          yield* insertLogs([newLog(`${index} a`, first), newLog(`${index} b`), newLog(`${index} c`, other)]);
        }),
      ),
    ).finally(() => {
      written = true;
    });
    const seen: LogRow[] = [];
    const toEnd = (rows: readonly LogRow[]) => ({
      above: rows.at(-1)?.seq ?? 0,
      upTo: Number.MAX_SAFE_INTEGER,
    });
    for (let final = false; !final; ) {
      final = written;
      // The embedded engine commits in a later turn of the event loop.
      await setImmediate();
      const page = await handles[1].read(() => firstLogs(orgId, allLogs, toEnd(seen), 1_000));
      seen.push(...page);
    }
    await writes;
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 180 }, (_, index) => index + 1));
  });
});
