/**
 * Measures `svc serve` of the published package: the time from its start until `/readyz` returns 200, with an empty and
 * with an existing data folder, and its resident memory once it is idle.
 *
 *     node test/bench/start/server.ts [--runtime node|bun|deno] [--rounds N] [--launcher FILE] [--json]
 *
 * Each round runs an empty program too. A ratio is that of the server's start to the empty program of its round. Memory
 * is read from `/proc` three seconds after the start, so that it is known on Linux only.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bareEnvironment, commandOf, type Runtime, runtimes } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import { installPackage } from "./installed.ts";
import { type Summary, summary } from "./statistics.ts";

const boundMs = 400;
/** In MB. Of Deno none is stated. */
const memoryBounds: Readonly<Record<Runtime, number | null>> = { node: 90, bun: 60, deno: null };
const idleMs = 3000;

export interface StartCost {
  emptyProgramMs: Summary;
  freshMs: Summary;
  existingMs: Summary;
  ratio: Summary;
  idleMb: Summary;
}

export interface Options {
  runtime: Runtime;
  rounds: number;
  /** The launcher of an installed package; null builds and installs this one. */
  launcher: string | null;
}

export async function measureStart({ runtime, rounds, launcher: given }: Options): Promise<StartCost> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-start-"));
  try {
    const launcher = given ?? installPackage(folder);
    const empty = join(folder, "empty.mjs");
    writeFileSync(empty, "");
    const times = { empty: [], fresh: [], existing: [], ratio: [], memory: [] } as Record<string, number[]>;
    // The first round fills the caches.
    for (let round = -1; round < rounds; round++) {
      const emptyMs = await runEmpty(runtime, empty);
      const server = new TestServer(runtime, { launcher, stores: "embedded" });
      const freshMs = await start(server);
      const memory = await idleMb(server);
      await server.kill("SIGTERM");
      const existingMs = await start(server);
      await server.discard(false);
      if (round < 0) continue;
      times.empty?.push(emptyMs);
      times.fresh?.push(freshMs);
      times.existing?.push(existingMs);
      times.ratio?.push(freshMs / emptyMs);
      times.memory?.push(memory);
    }
    return {
      emptyProgramMs: summary(times.empty ?? []),
      freshMs: summary(times.fresh ?? []),
      existingMs: summary(times.existing ?? []),
      ratio: summary(times.ratio ?? []),
      idleMb: summary(times.memory ?? []),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The server prints its address when it is ready, and `start` asserts that `/readyz` returns 200. */
async function start(server: TestServer): Promise<number> {
  const startedAt = performance.now();
  await server.start();
  return performance.now() - startedAt;
}

async function idleMb({ pid }: TestServer): Promise<number> {
  await setTimeout(idleMs);
  try {
    const [, kib = "NaN"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (Number(kib) * 1024) / 1e6;
  } catch {
    return Number.NaN;
  }
}

async function runEmpty(runtime: Runtime, script: string): Promise<number> {
  const [program, ...args] = commandOf(runtime);
  const startedAt = performance.now();
  const child = spawn(program, [...args, script], { env: bareEnvironment(), stdio: "ignore" });
  const [code] = await once(child, "close");
  assert.equal(code, 0);
  return performance.now() - startedAt;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      runtime: { type: "string", default: "node" },
      rounds: { type: "string", default: "5" },
      launcher: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const runtime = runtimes.find((name) => name === values.runtime) ?? "node";
  const rounds = Number(values.rounds);
  const cost = await measureStart({ runtime, rounds, launcher: values.launcher ?? null });
  if (values.json) console.log(JSON.stringify({ case: "server-start", runtime, rounds, ...cost }));
  else print(runtime, cost);
}

function print(runtime: Runtime, { emptyProgramMs, freshMs, existingMs, ratio, idleMb }: StartCost): void {
  const line = (name: string, unit: string, { median, p99, spread }: Summary, bound: number | null): void => {
    const [low, high] = spread.map((value) => value.toFixed(1));
    const held = bound === null ? "" : `, bound ${bound}: ${median <= bound ? "held" : "NOT held"}`;
    console.log(
      `${name.padEnd(22)} ${median.toFixed(1)}${unit} (${low} to ${high}), p99 ${p99.toFixed(1)}${held}`,
    );
  };
  line("empty program", " ms", emptyProgramMs, null);
  line("start, empty folder", " ms", freshMs, boundMs);
  line("start, existing folder", " ms", existingMs, boundMs);
  line("ratio", "", ratio, null);
  line("idle memory", " MB", idleMb, memoryBounds[runtime]);
}
