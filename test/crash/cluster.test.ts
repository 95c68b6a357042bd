/**
 * Two processes that accept requests and three workers on one PostgreSQL, under load, while processes are killed and
 * PostgreSQL is restarted as after a crash: 60 s with `CRASH_ROUNDS` (`npm run test:crash`), 2 s without kills of workers in
 * `npm test`, because a killed worker's executions wait for the end of its lease. Every acknowledged webhook has its
 * execution, each execution ends exactly once, each schedule tick runs once, and the log is complete and in order.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../server/store/engine.ts";
import { openPostgres } from "../../server/store/postgres/index.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { deploy } from "../support/project.ts";
import { fastRunners } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import { rows } from "../support/store.ts";
import { createCounters, listViolations } from "./ends.ts";
import { seeded } from "./random.ts";

const long = process.env.CRASH_ROUNDS !== undefined;
const loadMs = long ? 60_000 : 2_000;
const databaseRestarts = long ? 2 : 1;
const senders = 4;
const linesEach = 3;
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

test(`loses and duplicates nothing when processes and PostgreSQL are killed (seed ${seed})`, {
  timeout: loadMs + 180_000,
}, async () => {
  const random = seeded(seed);
  const postgres = await PostgresServer.start();
  onTestFinished(() => postgres.discard());
  const dataDir = mkdtempSync(join(tmpdir(), "svc-cluster-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const start = (role: string): TestServer =>
    new TestServer("node", {
      dataDir,
      args: ["--role", role],
      env: {
        ...(!long && fastRunners),
        SVC_DATABASE_URL: postgres.url(),
        SVC_API_KEY: "svc_cluster_0123456789abcdef",
        SVC_CONCURRENCY: "32",
        SVC_RUNNERS_PER_DEPLOYMENT: "1",
        SVC_WEBHOOK_RATE: "10000",
        SVC_WEBHOOK_BURST: "10000",
        SVC_ORGANIZATION_RATE: "10000",
        SVC_ORGANIZATION_BURST: "10000",
      },
    });
  const apis = [start("api"), start("api")];
  const workers = [start("worker"), start("worker"), start("worker")];
  const all = [...apis, ...workers];
  onTestFinished(async () => {
    await Promise.all(all.map((server) => server.kill("SIGKILL")));
  });
  await Promise.all(all.map((server) => server.start()));
  const engine = await openPostgres({ url: postgres.url(), applicationName: "test", waitMs: 30_000 });
  onTestFinished(() => engine.close());
  await engine.write(() => createCounters("postgres"));

  const { webhooks } = await deploy(apis[0] as TestServer, {
    agents: {
      echo: {
        code: `export default async ({ n }) => {
  for (let line = 1; line <= ${linesEach}; line++) console.log("line " + line);
  return { n };
};`,
        webhooks: [{ slug: "in" }],
      },
      tick: "export default async () => null;",
    },
    schedules: { agents: { tick: { cron: "* * * * *" } } },
  });
  const path = new URL(webhooks[0]?.url ?? "").pathname;

  const until = Date.now() + loadMs;
  const accepted = new Map<string, number>();
  let sent = 0;
  const send = async (): Promise<void> => {
    while (Date.now() < until) {
      const n = sent++;
      const api = apis[n % apis.length] as TestServer;
      const id = await post(`${api.url}${path}`, n);
      if (id === null) await setTimeout(50);
      else accepted.set(id, n);
    }
  };
  const disturb = async (): Promise<void> => {
    const actions = Array.from({ length: databaseRestarts }, () => "database");
    for (let n = 0; n < (long ? 8 : 1); n++) actions.push(long && random() < 0.6 ? "worker" : "api");
    actions.sort(() => random() - 0.5);
    for (const action of actions) {
      await setTimeout((loadMs / (actions.length + 1)) * (0.5 + random()));
      if (action === "database") await postgres.restart("immediate");
      else await revive(pick(action === "api" ? apis : workers, random));
    }
  };
  await Promise.all([disturb(), ...Array.from({ length: senders }, send)]);

  expect(accepted.size).toBeGreaterThan(long ? 500 : 5);
  await allEnded(engine);
  const executions = await rows<{ execution_id: string; status: string; output: string }>(
    engine,
    "SELECT execution_id, status, output FROM executions WHERE name = 'echo'",
  );
  const stored = new Map(executions.map((row) => [row.execution_id, row]));
  for (const [id, n] of accepted) {
    expect(stored.get(id)).toEqual({ execution_id: id, status: "succeeded", output: JSON.stringify({ n }) });
  }
  expect(executions.filter(({ status }) => status !== "succeeded")).toEqual([]);
  expect(await engine.read(listViolations)).toEqual({ doubles: [], revivals: [] });
  await checkTicks(engine);
  await checkLogs(engine, [...accepted.keys()]);
  console.log(`${accepted.size} of ${sent} requests were accepted; ${executions.length} executions ended.`);
});

/** The id of the execution; null when the request was not accepted. */
async function post(url: string, n: number): Promise<string | null> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n }),
      signal: AbortSignal.timeout(15_000),
    });
    const body = (await response.json()) as { execution_id: string };
    if (response.status === 202) return body.execution_id;
    expect(response.status).toBe(503);
    return null;
  } catch (error) {
    // The process was killed.
    if (error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException)
      return null;
    throw error;
  }
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Kills a process and starts it again, as an orchestrator does: until it runs. */
async function revive(server: TestServer): Promise<void> {
  await server.kill("SIGKILL");
  for (let attempt = 0; ; attempt++) {
    try {
      return await server.start();
    } catch (error) {
      if (attempt === 20) throw error;
      await setTimeout(200);
    }
  }
}

async function allEnded(engine: Engine): Promise<void> {
  const open = (): Promise<object[]> =>
    rows(engine, "SELECT execution_id, status FROM executions WHERE status IN ('queued', 'running')");
  await expect.poll(open, { timeout: 120_000, interval: 200 }).toEqual([]);
}

/** Each tick that ran has one execution, and no execution of a schedule belongs to another tick. */
async function checkTicks(engine: Engine): Promise<void> {
  const ticks = await rows<{ due_at: number; execution_id: string | null }>(
    engine,
    "SELECT due_at, execution_id FROM ticks WHERE outcome = 'run'",
  );
  const executions = await rows<{ execution_id: string }>(
    engine,
    "SELECT execution_id FROM executions WHERE origin = 'schedule'",
  );
  const ids = ticks.map(({ execution_id }) => execution_id).toSorted();
  expect(ids).toEqual(executions.map(({ execution_id }) => execution_id).toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  if (long) expect(ids.length).toBeGreaterThanOrEqual(1);
}

/** Entries are numbered without gaps, and each execution's last run has all of its lines in order. */
async function checkLogs(engine: Engine, ids: readonly string[]): Promise<void> {
  const [log] = await rows<{ n: number; last: number; ends: number }>(
    engine,
    "SELECT COUNT(*) AS n, MAX(seq) AS last, (SELECT MAX(seq) FROM log_ends) AS ends FROM logs",
  );
  expect(log?.n).toBe(log?.last);
  expect(log?.ends).toBe(log?.last);
  const entries = await rows<{ execution_id: string; message: string }>(
    engine,
    "SELECT execution_id, message FROM logs WHERE source = 'console' AND name = 'echo' ORDER BY seq",
  );
  const lines = new Map<string, string[]>();
  for (const { execution_id, message } of entries) {
    lines.set(execution_id, [...(lines.get(execution_id) ?? []), message]);
  }
  const complete = Array.from({ length: linesEach }, (_, line) => `line ${line + 1}`);
  for (const id of ids) expect(lines.get(id)?.slice(-linesEach), id).toEqual(complete);
}
