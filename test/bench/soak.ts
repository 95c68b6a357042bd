/**
 * `npm run bench:soak [-- --minutes 30 --rate 0 --runtime node --bytes 150]`: webhooks at half of what the machine executes,
 * for a long time. Each runs an agent that writes a log line. Samples memory of the server and of its runners, descriptors,
 * the size of the store and latency, prints them as a table, and judges: flat memory and descriptors, constant disk space per
 * execution, no lost or refused webhook, every execution succeeded. Exits with 1 when one does not hold. Linux only.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { deploy } from "../support/project.ts";
import { ok } from "../support/rest.ts";
import type { Runtime } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import { load } from "./limit/child.ts";
import type { LoadResult } from "./limit/load.ts";
import { judge, type Sample } from "./soak/judge.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    rate: { type: "string", default: "0" },
    runtime: { type: "string", default: "node" },
    bytes: { type: "string", default: "150" },
  },
});
const minutes = Number(values.minutes);
const bodyBytes = Number(values.bytes);
/** About 30 samples, each of at least 5 s. */
const sliceSeconds = Math.max(5, Math.round((minutes * 60) / 30));
const probeSeconds = 8;
const drainMs = 300_000;
const rate = "10000000";
const server = new TestServer(values.runtime as Runtime, {
  env: {
    SVC_WEBHOOK_RATE: rate,
    SVC_WEBHOOK_BURST: rate,
    SVC_ORGANIZATION_RATE: rate,
    SVC_ORGANIZATION_BURST: rate,
  },
});

await server.start();
let passed = false;
try {
  const code = "export default (input) => { console.log('received', input.n); return { n: input.n }; };";
  const agents = { echo: { code, webhooks: [{ slug: "in" }] } };
  const url = (await deploy(server, { agents })).webhooks[0]?.url ?? "";
  const perSecond = Number(values.rate) || (await halfOfExecuted(url));
  console.log(`${Math.round(perSecond)} webhooks/s for ${minutes} min, a sample every ${sliceSeconds} s`);
  console.log(
    "   min   executions  server MB  runners MB  descriptors  store MB  bytes/execution  p50 ms  p99 ms  problems",
  );

  const samples: Sample[] = [];
  let executions = await countExecutions();
  let storeBytes = storeSize();
  const startMs = performance.now();
  while (performance.now() - startMs < minutes * 60_000) {
    const { result, problem } = await send(url, sliceSeconds, perSecond);
    await drained();
    const [count, size] = [await countExecutions(), storeSize()];
    const sample: Sample = {
      minute: (performance.now() - startMs) / 60_000,
      executions: count,
      serverMegabytes: residentMegabytes(server.pid),
      runnerMegabytes: descendants(server.pid).reduce((sum, pid) => sum + residentMegabytes(pid), 0),
      descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
      storeMegabytes: size / 1e6,
      bytesPerExecution: (size - storeBytes) / Math.max(1, count - executions),
      p50: result?.latencyMs.p50 ?? Number.NaN,
      p99: result?.latencyMs.p99 ?? Number.NaN,
      problem,
    };
    [executions, storeBytes] = [count, size];
    samples.push(sample);
    print(sample);
  }
  const failed = await countExecutions("failed");
  const lines = judge(samples, failed);
  for (const { holds, text } of lines) console.log(`${holds ? "holds: " : "FAILS: "} ${text}`);
  passed = lines.every(({ holds }) => holds);
  console.log(passed ? "The soak passed." : "The soak failed.");
} finally {
  if (!passed) console.log(server.output.slice(-3000));
  await server.discard(false);
}
process.exitCode = passed ? 0 : 1;

/** Half of the executions per second, from the first webhook to the last end, at full load. */
async function halfOfExecuted(url: string): Promise<number> {
  await send(url, 3, 0);
  await drained();
  const before = await countExecutions();
  const startMs = performance.now();
  await send(url, probeSeconds, 0);
  await drained();
  const executed = ((await countExecutions()) - before) / ((performance.now() - startMs) / 1000);
  console.log(`full load: ${Math.round(executed)} executions/s`);
  return executed / 2;
}

async function send(
  url: string,
  seconds: number,
  ratePerSecond: number,
): Promise<{ result: LoadResult | null; problem: string }> {
  try {
    const options = { url, bodyBytes, seconds, warmupSeconds: 0, headers: {} };
    return { result: await load(ratePerSecond > 0 ? { ...options, ratePerSecond } : options), problem: "" };
  } catch (error) {
    return { result: null, problem: error instanceof Error ? error.message.slice(0, 300) : String(error) };
  }
}

/** Resolves when no execution is queued or running. @throws Error after five minutes */
async function drained(): Promise<void> {
  const endMs = performance.now() + drainMs;
  for (const status of ["queued", "running"]) {
    for (;;) {
      const page = await ok<{ executions: unknown[] }>(
        server,
        "GET",
        `/api/v1/executions?status=${status}&page_size=1`,
      );
      if (page.executions.length === 0) break;
      if (performance.now() > endMs)
        throw new Error(`Executions are still ${status} after ${drainMs / 1000} s.`);
      await setTimeout(100);
    }
  }
}

async function countExecutions(status?: string): Promise<number> {
  const engine = await server.openStore();
  try {
    const { first } = await import("../../server/store/engine.ts");
    const sql = `SELECT COUNT(*) AS count FROM executions ${status === undefined ? "" : "WHERE status = ?1"}`;
    const row = await engine.read(() =>
      first<{ count: number }>(sql, ...(status === undefined ? [] : [status])),
    );
    return Number(row?.count);
  } finally {
    await engine.close();
  }
}

/** The file after a checkpoint; the write-ahead log keeps its size. */
function storeSize(): number {
  return statSync(join(server.dataDir, "svc.db")).size + statSync(join(server.dataDir, "svc.db-wal")).size;
}

function descendants(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .split(" ")
      .filter(Boolean)
      .map(Number);
    return children.flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}

function residentMegabytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function print(sample: Sample): void {
  const cells: [string, number][] = [
    [sample.minute.toFixed(1), 6],
    [String(sample.executions), 13],
    [sample.serverMegabytes.toFixed(0), 11],
    [sample.runnerMegabytes.toFixed(0), 12],
    [String(sample.descriptors), 13],
    [sample.storeMegabytes.toFixed(0), 10],
    [sample.bytesPerExecution.toFixed(0), 17],
    [sample.p50.toFixed(1), 8],
    [sample.p99.toFixed(1), 8],
  ];
  console.log(`${cells.map(([text, width]) => text.padStart(width)).join("")}  ${sample.problem}`);
}
