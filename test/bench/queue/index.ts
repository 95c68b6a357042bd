/**
 * Jobs per second through the queue, and the latency from enqueue to start: svc, graphile-worker and pg-boss on the same
 * PostgreSQL with synced commits, interleaved, each round on new databases. The peers are tuned: batches, concurrency and
 * notifications. `npm run bench:queue [rounds] [jobs]`, after `npm install --prefix test/bench/peers`.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onDatabase } from "../../support/postgres/databases.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { postmaster, processorTime } from "../scaling-model/processor-time.ts";
import type { Measurement } from "./contest.ts";

interface Result extends Measurement {
  /** Processor time of PostgreSQL per job in microseconds, with that of creating the schema. NaN where it is unknown. */
  databaseCpuPerJob: number;
}

const [rounds = "5", jobs = "20000"] = process.argv.slice(2);
const names = ["svc", "graphile", "pg-boss"];
const server = await PostgresServer.start({ shared_buffers: "256MB" });
const results = new Map(names.map((name) => [name, [] as Result[]]));
try {
  for (let round = 0; round < Number(rounds); round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const database = `round_${round}_${name.replace("-", "_")}`;
      await onDatabase(server.url(), `CREATE DATABASE ${database} TEMPLATE template0`);
      const args = [fileURLToPath(new URL("contest.ts", import.meta.url)), name, server.url(database), jobs];
      const cpuBefore = databaseMs();
      const output = execFileSync(process.execPath, args, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      const measurement: Result = {
        ...(JSON.parse(output.trim().split("\n").at(-1) ?? "") as Measurement),
        databaseCpuPerJob: ((databaseMs() - cpuBefore) * 1000) / Number(jobs),
      };
      results.get(name)?.push(measurement);
      console.log(`round ${round + 1} ${name.padEnd(9)} ${describe(measurement)}`);
      await onDatabase(server.url(), `DROP DATABASE ${database} WITH (FORCE)`);
      await onDatabase(server.url(), "CHECKPOINT");
    }
  }
  console.log("\nmedians");
  for (const [name, list] of results) console.log(`${name.padEnd(9)} ${describe(medians(list))}`);
} finally {
  await server.discard();
}

/** Milliseconds of processor time so far. Known on Linux. */
function databaseMs(): number {
  if (process.platform !== "linux") return Number.NaN;
  const { own, descendants } = processorTime(postmaster(server.port));
  return own + descendants;
}

function medians(list: readonly Result[]): Result {
  const keys = Object.keys(list[0] ?? {}) as (keyof Result)[];
  const entries = keys.map((key) => {
    const sorted = list.map((measurement) => measurement[key]).sort((a, b) => a - b);
    return [key, sorted[Math.floor(sorted.length / 2)]];
  });
  return Object.fromEntries(entries) as Result;
}

function describe(result: Result): string {
  const { enqueue, drain, cycle, p50, p99, cpuPerJob, databaseCpuPerJob } = result;
  const rate = (value: number): string => `${Math.round(value)}/s`.padStart(8);
  return `enqueue ${rate(enqueue)}  drain ${rate(drain)}  both ${rate(cycle)}  start p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms  ${cpuPerJob.toFixed(0)} µs/job, PostgreSQL ${databaseCpuPerJob.toFixed(0)} µs/job`;
}
