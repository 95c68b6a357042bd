/** Retention by time, on both engines. */
import { describe, expect, test } from "vitest";
import { Housekeeper } from "../../server/housekeeper.ts";
import { orderedId } from "../../server/ids.ts";
import type { ObjectStorage } from "../../server/storage/contract.ts";
import { type Engine, run } from "../../server/store/engine.ts";
import { deleteOldExecutions } from "../../server/store/tables/expired-executions.ts";
import { insertLogs, type NewLog } from "../../server/store/tables/logs.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { insertOrganization } from "../../server/store/tables/organizations.ts";
import { orgId, rows } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

const dayMs = 86_400_000;
const nowMs = 1_800_000_000_000;
const oldMs = nowMs - 40 * dayMs;

function newExecution(values: Partial<NewExecution> = {}): NewExecution {
  return {
    ...{
      org_id: orgId,
      execution_id: orderedId("exe", oldMs),
      kind: "workflow",
      name: "flow",
      origin: "run",
    },
    ...{ deployment_id: "dep_1", environment: "production", input: "{}", created_at: oldMs },
    ...values,
  };
}

function newLog(values: Partial<NewLog>): NewLog {
  return {
    ...{ org_id: orgId, at: oldMs, level: "info", source: "console", message: "", execution_id: null },
    ...{ deployment_id: "dep_1", name: null, environment: "production" },
    ...values,
  };
}

const finish = (id: string) =>
  run("UPDATE executions SET status = 'succeeded', finished_at = ?1 WHERE execution_id = ?2", oldMs, id);

const round = (engine: Engine): Promise<void> =>
  new Housekeeper({
    ...{ engine, storage: {} as ObjectStorage, packages: { remove: async () => {} } },
    retentionDays: 30,
  }).round(nowMs);

describe.each(engineNames)("retention on %s", (name) => {
  const openStore = async (): Promise<Engine> => {
    const engine = await (await stores[name]()).open();
    await engine.write(() => insertOrganization({ org_id: orgId, name: "test", created_at: 1 }));
    return engine;
  };

  test("keeps a child execution with its log until its parent has ended", async () => {
    const engine = await openStore();
    const parent = newExecution();
    const id = parent.execution_id;
    const child = newExecution({ origin: "child", parent_execution_id: id, parent_key: "k", depth: 1 });
    await engine.write(function* () {
      yield* insertExecutions([parent, child]);
      yield* insertLogs([newLog({ execution_id: child.execution_id })]);
      yield* finish(child.execution_id);
    });
    const left = async () => (await rows(engine, "SELECT execution_id FROM executions")).length;
    await round(engine);
    expect(await left()).toBe(2);
    expect(await rows(engine, "SELECT seq FROM logs")).toHaveLength(1);
    await engine.write(() => finish(id));
    await round(engine);
    expect(await left()).toBe(0);
    expect(await rows(engine, "SELECT seq FROM logs")).toEqual([]);
  });

  test("deletes entries of no execution, and keeps newer ones and the audit log", async () => {
    const engine = await openStore();
    const fresh = { at: nowMs - dayMs };
    const logs = [
      // Of a clock that was wrong.
      newLog({ message: "future", at: nowMs + 900 * dayMs }),
      newLog({ message: "stray" }),
      newLog({ message: "audit", source: "audit" }),
      newLog({ message: "of an execution", execution_id: "exe_1" }),
      newLog({ message: "schedule", source: "schedule", execution_id: "exe_1" }),
      newLog({ ...fresh, message: "fresh" }),
      newLog({ ...fresh, message: "fresh schedule", source: "schedule" }),
    ];
    await engine.write(() => insertLogs(logs));
    await round(engine);
    const left = await rows<{ message: string }>(engine, "SELECT message FROM logs ORDER BY seq");
    const expected = ["future", "audit", "of an execution", "fresh", "fresh schedule"];
    expect(left.map(({ message }) => message)).toEqual(expected);
  });

  test("deletes a limited number of log entries in each transaction, and executions after theirs", async () => {
    const engine = await openStore();
    const executions = [newExecution(), newExecution()];
    const [long = "", short = ""] = executions.map(({ execution_id }) => execution_id);
    const logs = (id: string, count: number) =>
      Array.from({ length: count }, () => newLog({ execution_id: id }));
    await engine.write(function* () {
      yield* insertExecutions(executions);
      yield* insertLogs([...logs(long, 12), ...logs(short, 3)]);
      yield* finish(long);
      yield* finish(short);
    });
    const remove = () => engine.write(() => deleteOldExecutions(nowMs, { executions: 10, logs: 10 }));
    const left = async () => ({
      executions: (await rows(engine, "SELECT execution_id FROM executions")).map((row) => row.execution_id),
      logs: (await rows(engine, "SELECT seq FROM logs")).length,
    });
    expect(await remove()).toBe(true);
    expect(await left()).toEqual({ executions: [long], logs: 7 });
    expect(await remove()).toBe(false);
    expect(await left()).toEqual({ executions: [], logs: 0 });
  });
});
