/**
 * `node test/bench/drain/index.ts [--jobs 10000] [--rounds 5] [--json]`: executions per second of a queue that waits, in
 * runners outside the server's process, compared with a batching loop over one child process. Both keep the queue in SQLite
 * with synced commits, and run a trivial asynchronous handler.
 *
 * The rate counts from the first claim to the last end, by the times in the rows. The processor time of the server and
 * its runners is that of one execution.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { orderedId } from "../../../server/ids.ts";
import { deploy } from "../../support/project.ts";
import { run } from "../../support/rest.ts";
import { TestServer } from "../../support/server.ts";
import { openExecutions } from "../runner/open-executions.ts";
import { processorTime } from "../scaling-model/processor-time.ts";

export interface DrainRound {
  perSecond: number;
  /** Microseconds of processor time of the server's process for one execution. */
  serverUs: number;
  /** The same of its runners. */
  runnersUs: number;
  /** Executions per second of the batching loop. */
  loopPerSecond: number;
  /** `perSecond` divided by `loopPerSecond`. */
  ratio: number;
}

export async function drain(jobs: number, rounds: number): Promise<DrainRound[]> {
  const server = new TestServer("node");
  await server.start();
  try {
    await deploy(server, { agents: { job: "export default async () => ({ at: performance.now() });" } });
    await run(server, "job");
    const database = new DatabaseSync(join(server.dataDir, "svc.db"));
    database.exec("PRAGMA busy_timeout = 10000");
    await ended(database);
    // The first queue starts the runners.
    await drainOnce(server, database, jobs);
    const results: DrainRound[] = [];
    for (let round = 0; round < rounds; round++) {
      const ours = await drainOnce(server, database, jobs);
      const loopPerSecond = loop(jobs);
      results.push({ ...ours, loopPerSecond, ratio: ours.perSecond / loopPerSecond });
    }
    database.close();
    return results;
  } finally {
    await server.discard(false);
  }
}

async function drainOnce(
  server: TestServer,
  database: DatabaseSync,
  jobs: number,
): Promise<Pick<DrainRound, "perSecond" | "serverUs" | "runnersUs">> {
  const before = processorTime(server.pid);
  const first = fill(database, jobs);
  await ended(database);
  const after = processorTime(server.pid);
  const { count, start, end } = database
    .prepare(
      `SELECT COUNT(*) AS count, MIN(started_at) AS start, MAX(finished_at) AS end FROM executions
       WHERE execution_id >= ? AND status = 'succeeded'`,
    )
    .get(first) as { count: number; start: number; end: number };
  if (count !== jobs) throw new Error(`${count} of ${jobs} executions have succeeded.`);
  return {
    perSecond: jobs / ((end - start) / 1000),
    serverUs: ((after.own - before.own) * 1000) / jobs,
    runnersUs: ((after.descendants - before.descendants) * 1000) / jobs,
  };
}

/** Queues executions like the first one. @returns the lowest id */
function fill(database: DatabaseSync, jobs: number): string {
  const from = database.prepare("SELECT * FROM executions LIMIT 1").get() ?? {};
  const { org_id = "", kind = "", name = "", deployment_id = "", environment = "" } = from;
  const insert = database.prepare(
    `INSERT INTO executions (org_id, execution_id, status, kind, name, origin, deployment_id, environment, input, due_at,
     created_at) VALUES (?, ?, 'queued', ?, ?, 'webhook', ?, ?, ?, ?, ?)`,
  );
  const ids = Array.from({ length: jobs }, () => orderedId("exe"));
  const now = Date.now();
  database.exec("BEGIN IMMEDIATE");
  for (const id of ids) {
    const input = JSON.stringify({ n: 1, text: "x".repeat(120) });
    insert.run(org_id, id, kind, name, deployment_id, environment, input, now, now);
  }
  database.exec("COMMIT");
  return ids[0] ?? "";
}

async function ended(database: DatabaseSync): Promise<void> {
  const isOpen = openExecutions(database);
  while (isOpen()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function loop(jobs: number): number {
  const folder = mkdtempSync(join(tmpdir(), "svc-loop-"));
  try {
    const program = fileURLToPath(new URL("loop.ts", import.meta.url));
    const output = execFileSync(process.execPath, [program, folder, String(jobs)], { encoding: "utf8" });
    return (JSON.parse(output) as { perSecond: number }).perSecond;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      jobs: { type: "string", default: "10000" },
      rounds: { type: "string", default: "5" },
      json: { type: "boolean", default: false },
    },
  });
  const rounds = await drain(Number(values.jobs), Number(values.rounds));
  if (values.json) console.log(JSON.stringify({ case: "drain", rounds }));
  else {
    const of = (key: keyof DrainRound, digits: number): string => {
      const list = rounds.map((round) => round[key]);
      const [least, most] = [Math.min(...list), Math.max(...list)];
      return `${median(list).toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
    };
    console.log(
      `drain of ${values.jobs}: ${of("perSecond", 0)}/s, batching loop ${of("loopPerSecond", 0)}/s`,
    );
    console.log(
      `  ratio ${of("ratio", 3)}; server ${of("serverUs", 0)} µs, runners ${of("runnersUs", 0)} µs of CPU each`,
    );
  }
  process.exit();
}
