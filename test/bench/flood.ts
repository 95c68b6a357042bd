/**
 * `npm run bench:flood [-- --seconds 60 --runtime node]`: the latency of an authenticated call, and the memory and
 * descriptors of the server, before, during and after an anonymous flood on loopback.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ok } from "../support/rest.ts";
import type { Runtime } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    runtime: { type: "string", default: "node" },
    recovery: { type: "string", default: "75" },
  },
});
const seconds = Number(values.seconds);
/** Longer than every deadline for bodies and idle connections. */
const recoverySeconds = Number(values.recovery);
const callsPerSecond = 50;

const server = new TestServer(values.runtime as Runtime);
await server.start();
try {
  await latency(5);
  const before = { ...(await latency(Math.min(seconds, 15))), ...resources() };
  console.log("before", before);
  const senders = spawn(process.execPath, [
    fileURLToPath(new URL("flood-senders.ts", import.meta.url)),
    server.url,
    String(seconds),
  ]);
  senders.stdout.on("data", (text) => console.log(`flood ${text}`.trim()));
  const ended = new Promise((resolve) => senders.once("close", resolve));
  await setTimeout(1000);
  const during = { ...(await latency(seconds - 2)), ...resources() };
  console.log("during", during, `p99 ratio ${(during.p99 / before.p99).toFixed(1)}`);
  await ended;
  await setTimeout(recoverySeconds * 1000);
  const after = { ...(await latency(10)), ...resources() };
  console.log("after", after);
} finally {
  await server.discard(false);
}

/** Milliseconds of calls at a fixed rate, counted from the time at which each was due. */
async function latency(forSeconds: number): Promise<{ p50: number; p99: number; max: number }> {
  const startMs = performance.now();
  const calls = Array.from({ length: forSeconds * callsPerSecond }, async (_, index) => {
    const dueMs = startMs + (index * 1000) / callsPerSecond;
    await setTimeout(Math.max(0, dueMs - performance.now()));
    await ok(server, "GET", "/api/v1/organization");
    return performance.now() - dueMs;
  });
  const sorted = (await Promise.all(calls)).toSorted((a, b) => a - b);
  const at = (share: number) => Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1));
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

function resources(): { megabytes: number; descriptors: number } {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1];
  return {
    megabytes: Math.round(Number(kilobytes) / 1024),
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
  };
}
