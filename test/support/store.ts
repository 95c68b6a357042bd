/** Creates stores in temporary folders and fills them without a server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ScheduleDefinition, TargetDefinition } from "../../project/definition.ts";
import { orderedId } from "../../server/ids.ts";
import { nextDue } from "../../server/schedules/next-due.ts";
import { switchTo } from "../../server/services/deployments/activation.ts";
import { all, type Engine, type Row, type SqlValue } from "../../server/store/engine.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { type DeploymentRow, insertDeployment } from "../../server/store/tables/deployments.ts";

/** A folder for one test, removed unless the test fails. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-store-"));
  onTestFinished(({ task }) => {
    if (task.result?.state !== "fail") rmSync(folder, { recursive: true, force: true });
    else console.error(`The store is in ${folder}`);
  });
  return folder;
}

/** Opens the store of a folder and closes it after the test. */
export function openStore(folder: string = temporaryFolder()): Engine {
  const engine = openSqlite(folder);
  onTestFinished(() => engine.close());
  return engine;
}

/** The rows of a read-only statement. */
export function rows<R extends object = Row>(
  engine: Engine,
  sql: string,
  ...params: SqlValue[]
): Promise<R[]> {
  return engine.read(() => all<R>(sql, ...params));
}

export const orgId: string = `org_${"t".repeat(26)}`;

/** Schedules by the name of their agent, with the defaults of the project file. */
export type Schedules = Readonly<Record<string, Partial<ScheduleDefinition> & { cron: string }>>;

/** Registers a deployment with these schedules and activates it as of a time. @returns its id */
export async function activateSchedules(
  engine: Engine,
  schedules: Schedules,
  nowMs: number,
): Promise<string> {
  const deployment = newDeployment(nowMs);
  const definitions = Object.entries(schedules).map(
    ([name, given]): ScheduleDefinition => ({
      kind: "agent",
      name,
      timezone: "UTC",
      enabled: true,
      input: {},
      overlap: "skip",
      catchUpSeconds: 0,
      ...given,
    }),
  );
  // The first due time of each timing, computed once: some tests have 100,000 schedules.
  const dueByTiming = new Map<string, number | null>();
  const firstDue = (definition: ScheduleDefinition): number | null => {
    const timing = `${definition.cron} ${definition.timezone} ${definition.enabled}`;
    const due = dueByTiming.has(timing) ? dueByTiming.get(timing) : nextDue(definition, nowMs);
    dueByTiming.set(timing, due ?? null);
    return due ?? null;
  };
  await engine.write(function* () {
    yield* insertDeployment(deployment);
    yield* switchTo({
      deployment,
      targets: definitions.map(({ name }) => newTarget(name)),
      schedules: definitions.map((definition) => ({ definition, nextDueAt: firstDue(definition) })),
      actor: null,
      nowMs,
    });
  });
  return deployment.deployment_id;
}

export function newDeployment(nowMs: number): DeploymentRow {
  return {
    org_id: orgId,
    deployment_id: orderedId("dep", nowMs),
    project: "test",
    version: "1",
    environment: "production",
    status: "pending",
    digest: "0".repeat(64),
    size_bytes: 1,
    file_count: 1,
    definition: "{}",
    files: "[]",
    source_deployment_id: null,
    created_by: "key_test",
    created_by_name: "test",
    created_at: nowMs,
    activated_at: null,
    error: "",
  };
}

export function newTarget(name: string): TargetDefinition {
  return {
    kind: "agent",
    name,
    displayName: name,
    module: `agents/${name}.ts`,
    timeoutSeconds: 300,
    retry: null,
    webhooks: [],
  };
}
