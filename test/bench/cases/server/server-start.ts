import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { bareEnvironment, commandOf, type Runtime, runtimes } from "../../../support/runtimes.ts";
import { builtLauncher } from "../../runner/built.ts";
import type { Options, Row } from "../../runner/case.ts";
import { programsOf, type Sample } from "../../runner/interleave.ts";
import { withFolder } from "../../runner/server.ts";

const names = { node: "Node", bun: "Bun", deno: "Deno" };
/** After the start, until the memory of the start has been collected. */
const idleMs = 2_000;

/** The built package with an existing data folder. Ratios are those of Node to the other runtimes. */
export async function run({ rounds }: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const launcher = builtLauncher(folder);
    const started = new Map<string, Sample[]>(runtimes.map((runtime) => [names[runtime], []]));
    const memory = new Map<string, Sample[]>(runtimes.map((runtime) => [names[runtime], []]));
    // The first round fills the caches of compiled code.
    for (let round = -1; round < rounds; round++) {
      for (const runtime of runtimes) {
        const { ms, megabytes } = await start(runtime, launcher);
        if (round < 0) continue;
        started.get(names[runtime])?.push(ms);
        memory.get(names[runtime])?.push(megabytes);
      }
    }
    return [
      {
        what: "start to `/readyz`",
        unit: "ms",
        programs: programsOf(started),
        goals: [{ program: names.node, of: "median", atMost: 400 }],
      },
      {
        what: "idle",
        unit: "MB resident",
        programs: programsOf(memory),
        goals: [
          { program: names.node, of: "median", atMost: 90 },
          { program: names.bun, of: "median", atMost: 60 },
        ],
      },
    ];
  });
}

async function start(runtime: Runtime, launcher: string): Promise<{ ms: number; megabytes: number }> {
  const data = mkdtempSync(join(tmpdir(), "svc-start-"));
  try {
    await serve(runtime, launcher, data, 0);
    return await serve(runtime, launcher, data, idleMs);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function serve(runtime: Runtime, launcher: string, data: string, waitMs: number) {
  const [program, ...before] = commandOf(runtime);
  // The package lies outside the folder in which Deno would search its dependencies.
  if (runtime === "deno") before.push("--node-modules-dir=manual");
  const startedAt = performance.now();
  const child = spawn(program, [...before, launcher, "serve", "--port", "0", "--data", data], {
    env: bareEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  try {
    const ended = once(child, "exit").then(() =>
      Promise.reject(new Error(`The server on ${runtime} ended.`)),
    );
    const url = await Promise.race([listening(child.stdout), listening(child.stderr), ended]);
    ended.catch(() => {});
    const { status } = await fetch(`${url}/readyz`);
    if (status !== 200) throw new Error(`/readyz returned ${status}.`);
    const ms = performance.now() - startedAt;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    return { ms, megabytes: (Number(kilobytes) * 1024) / 1e6 };
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
}

/** The URL in a line of a stream, which is read to its end. */
function listening(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    createInterface(stream).on("line", (line) => {
      const url = /Listening on ([^\s"]+)/.exec(line)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}
