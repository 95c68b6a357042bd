/** The sizes and numbers of `svc admin stats`, and free pages that the housekeeper returns to the file system. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { statisticsJson, statisticsText } from "../../cli/views/statistics.ts";
import { Housekeeper } from "../../server/housekeeper.ts";
import { orderedId } from "../../server/ids.ts";
import type { ObjectStorage } from "../../server/storage/contract.ts";
import { type Engine, run } from "../../server/store/engine.ts";
import { insertExecutions } from "../../server/store/tables/new-executions.ts";
import { insertOrganization } from "../../server/store/tables/organizations.ts";
import { storeSize, storeStatistics } from "../../server/store/tables/statistics.ts";
import { svc } from "../cli/support.ts";
import { openStore, orgId, temporaryFolder } from "../support/store.ts";
import { engineNames, stores } from "./stores.ts";

const nowMs = 1_800_000_000_000;

async function fill(engine: Engine, count: number, inputBytes: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    org_id: orgId,
    execution_id: orderedId("exe", nowMs + index),
    kind: "agent" as const,
    name: "job",
    origin: "run" as const,
    deployment_id: "dep_1",
    environment: "production",
    input: JSON.stringify("x".repeat(inputBytes)),
    created_at: nowMs + index,
  }));
  await engine.write(function* () {
    yield* insertOrganization({ org_id: orgId, name: "test", created_at: 1 });
    yield* run("INSERT INTO objects (org_id, digest, size_bytes, created_at) VALUES ('o', 'd', 1000, 1)");
    yield* insertExecutions(rows);
    yield* run(
      "UPDATE executions SET status = 'succeeded', finished_at = ?1 WHERE created_at > ?2",
      nowMs,
      nowMs,
    );
  });
}

test.each(engineNames)("counts rows, bytes and states in %s", async (name) => {
  const engine = await (await stores[name]()).open();
  await fill(engine, 5, 100);
  const statistics = await engine.read(() => storeStatistics(nowMs + 1000));
  expect(statistics).toMatchObject({
    executions: { counts: { queued: 1, succeeded: 4 }, oldestAtMs: nowMs, oldestDueAtMs: nowMs },
    packages: { count: 1, bytes: 1000 },
    size: { releases: name === "sqlite" ? true : null },
  });
  const tables = new Map(statistics.tables.map((table) => [table.name, table]));
  expect(tables.get("executions")).toMatchObject({ rows: 5 });
  expect(tables.get("organizations")).toMatchObject({ rows: 1 });
  expect(tables.get("executions")?.bytes).toBeGreaterThan(500);
  expect(statistics.size.bytes).toBeGreaterThanOrEqual(tables.get("executions")?.bytes ?? 0);
  expect(statisticsText(statistics)).toMatch(/^store .*\npackages +1 package, 1000 B\noldest execution /);
  expect(statisticsJson(statistics)).toMatchObject({
    executions: { queued: 1, failed: 0 },
    oldest_due_at: new Date(nowMs).toISOString(),
  });
});

test("svc admin stats prints them for a folder without executions", async () => {
  const folder = temporaryFolder();
  await openStore(folder).close();
  const { stdout, stderr } = await svc("node", ["admin", "stats", "--data", folder]);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^store .*\npackages +0 packages, 0 B\n\nExecutions\n {2}queued +0\n/);
  const json = JSON.parse((await svc("node", ["admin", "stats", "--data", folder, "--json"])).stdout);
  expect(json).toMatchObject({
    executions: { queued: 0 },
    oldest_execution_at: null,
    releases_free_space: true,
  });
});

test("the housekeeper returns free pages to the file system, and keeps some", async () => {
  const folder = temporaryFolder();
  const engine = openStore(folder);
  await fill(engine, 400, 100_000);
  const before = await engine.read(storeSize);
  expect(before.freeBytes).toBeLessThan(1024 ** 2);
  const housekeeper = new Housekeeper({
    engine,
    storage: { delete: async () => {} } as unknown as ObjectStorage,
    packages: { remove: async () => {} },
    retentionDays: 1,
  });
  await housekeeper.round(nowMs + 2 * 86_400_000);
  const after = await engine.read(storeSize);
  expect(after.bytes).toBeLessThan(before.bytes / 2);
  expect(after.freeBytes).toBeGreaterThan(8 * 1024 ** 2);
  await engine.close();
  expect(statSync(join(folder, "svc.db")).size).toBe(after.bytes);
});
