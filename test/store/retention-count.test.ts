/** Retention by the number of finished executions of each target. */
import { expect, test } from "vitest";
import { Housekeeper } from "../../server/housekeeper.ts";
import { orderedId } from "../../server/ids.ts";
import type { ObjectStorage } from "../../server/storage/contract.ts";
import { each, run } from "../../server/store/engine.ts";
import { insertLogs } from "../../server/store/tables/logs.ts";
import { insertExecutions, type NewExecution } from "../../server/store/tables/new-executions.ts";
import { insertOrganization } from "../../server/store/tables/organizations.ts";
import { orgId, rows } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

const hourMs = 3_600_000;
const startMs = 1_800_000_000_000;
const nowMs = startMs + 2 * hourMs;

test.each(engineNames)("keeps the newest finished executions of each target in %s", async (name) => {
  const engine = await (await stores[name]()).open();
  let atMs = startMs;
  const execution = (values: Partial<NewExecution>): NewExecution => ({
    ...{ org_id: orgId, execution_id: orderedId("exe", ++atMs), kind: "agent", name: "a", origin: "run" },
    ...{ deployment_id: "dep_1", environment: "production", input: "{}", created_at: atMs },
    ...values,
  });
  const many = Array.from({ length: 1_200 }, () => execution({ name: "many" }));
  const few = [execution({ name: "few" }), execution({ name: "few" })];
  const staging = execution({ name: "many", environment: "staging" });
  const parent = execution({ name: "parent", kind: "workflow" });
  const child = execution({
    name: "many",
    parent_execution_id: parent.execution_id,
    parent_key: "k",
    depth: 1,
  });
  const queued = execution({ name: "many" });
  const newest = Array.from({ length: 3 }, () => execution({ name: "many" }));
  const recent = execution({ name: "many" });
  const all = [...many, ...few, staging, parent, child, queued, ...newest, recent];
  const finished = all.filter((row) => row !== parent && row !== queued);
  const [oldest] = many;
  await engine.write(function* () {
    yield* insertOrganization({ org_id: orgId, name: "test", created_at: 1 });
    for (let at = 0; at < all.length; at += 300) yield* insertExecutions(all.slice(at, at + 300));
    yield* each(
      `UPDATE executions SET status = 'succeeded', finished_at = ${startMs} FROM ROWS(execution_id text) r
WHERE executions.execution_id = r.execution_id`,
      finished.map(({ execution_id }) => [execution_id]),
    );
    yield* run("UPDATE executions SET finished_at = ?1 WHERE execution_id = ?2", nowMs, recent.execution_id);
    yield* insertLogs([
      {
        ...{ org_id: orgId, at: startMs, level: "info", source: "console", message: "x" },
        ...{
          execution_id: oldest?.execution_id ?? "",
          deployment_id: "dep_1",
          name: "many",
          environment: "production",
        },
      } as Parameters<typeof insertLogs>[0][number],
    ]);
  });
  const round = (count: number) =>
    new Housekeeper({
      ...{ engine, storage: {} as ObjectStorage, packages: { remove: async () => {} } },
      ...{ retentionDays: 30, retentionCount: count },
    }).round(nowMs);
  const kept = async () =>
    (await rows<{ execution_id: string }>(engine, "SELECT execution_id FROM executions")).map(
      (row) => row.execution_id,
    );

  await round(0);
  expect(await kept()).toHaveLength(all.length);
  await round(3);
  const expected = [...few, staging, parent, child, queued, ...newest, recent].map((row) => row.execution_id);
  expect((await kept()).toSorted()).toEqual(expected.toSorted());
  expect(await rows(engine, "SELECT * FROM logs")).toEqual([]);
});
