/**
 * Compares commands of the published package with an empty program of the same runtime.
 *
 *     node test/bench/start/cli.ts [--runtime node|bun|deno] [--pairs N] [--launcher FILE] [--json]
 *
 * Each round runs the empty program and every command once, in turn. A ratio is that of a command to the empty program
 * of its round. The service runs in another process on loopback and has a deployment with two webhooks.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { newProject } from "../../../cli/project/templates/project.ts";
import { bareEnvironment, commandOf, type Runtime, runtimes } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";
import { builtLauncher } from "../runner/built.ts";
import { type Summary, summary } from "./statistics.ts";

export interface CommandCost {
  name: string;
  ms: Summary;
  /** To the empty program. */
  ratio: Summary;
  bound: number | null;
}

const commands: readonly { args: readonly string[]; bound: number; prints: RegExp }[] = [
  { args: ["--help"], bound: 1.6, prints: /^Usage\n {2}svc <command>/m },
  { args: ["webhook", "list"], bound: 4, prints: /^Agent webhooks\n {2}triage$/m },
  { args: ["status"], bound: 4.5, prints: /^Active deployments$/m },
  { args: ["run", "triage", "--data", '{"title":"Hi"}'], bound: 5, prints: /^\{/ },
];

export interface Options {
  runtime: Runtime;
  pairs: number;
  /** The launcher of an installed package; null builds and installs this one. */
  launcher: string | null;
}

/** @returns the cost of the empty program and of each command */
export async function measureCommands({ runtime, pairs, launcher: given }: Options): Promise<CommandCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-cli-"));
  const launcher = given ?? builtLauncher(folder);
  const server = new TestServer("node", { launcher });
  try {
    await server.start();
    const empty = join(folder, "empty.mjs");
    writeFileSync(empty, "");
    const project = join(folder, "project");
    const files = newProject({ folder: "bench", template: "github", runtime, svc: "npm:svc-agents" });
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), content);
    }
    const run = async (script: string, ...args: readonly string[]): Promise<Run> =>
      finished(runtime, [script, ...args], project, { SVC_API_KEY: server.apiKey, SVC_BASE_URL: server.url });
    await run(launcher, "push", "--yes");
    // Equal results first: each command prints the same in each round, and twice it fills the caches.
    for (const { args, prints } of [...commands, ...commands]) {
      assert.match((await run(launcher, ...args)).stdout, prints);
    }
    const names = ["empty program", ...commands.map(({ args }) => args.slice(0, 2).join(" "))];
    const times = names.map((): number[] => []);
    for (let round = 0; round < pairs; round++) {
      times[0]?.push((await run(empty)).tookMs);
      for (const [index, { args }] of commands.entries()) {
        times[index + 1]?.push((await run(launcher, ...args)).tookMs);
      }
    }
    return names.map((name, index) => ({
      name,
      ms: summary(times[index] ?? []),
      ratio: summary((times[index] ?? []).map((ms, round) => ms / (times[0]?.[round] ?? Number.NaN))),
      bound: commands[index - 1]?.bound ?? null,
    }));
  } finally {
    await server.discard(false);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Run {
  tookMs: number;
  stdout: string;
}

function finished(
  runtime: Runtime,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Run> {
  const [program, ...before] = commandOf(runtime);
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(program, [...before, ...args], {
      cwd,
      env: { ...bareEnvironment(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      const tookMs = performance.now() - startedAt;
      if (code === 0) resolve({ tookMs, stdout });
      else reject(new Error(`${args.join(" ")} exited with ${code}: ${stderr}`));
    });
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      runtime: { type: "string", default: "node" },
      pairs: { type: "string", default: "30" },
      launcher: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const runtime = runtimes.find((name) => name === values.runtime) ?? "node";
  const pairs = Number(values.pairs);
  const costs = await measureCommands({ runtime, pairs, launcher: values.launcher ?? null });
  if (values.json) console.log(JSON.stringify({ case: "cli-start", runtime, pairs, results: costs }));
  else for (const cost of costs) console.log(lineOf(cost));
}

function lineOf({ name, ms, ratio, bound }: CommandCost): string {
  const [low, high] = ratio.spread.map((value) => value.toFixed(2));
  const times = `${ms.median.toFixed(0).padStart(5)} ms, p99 ${ms.p99.toFixed(0).padStart(5)} ms`;
  if (bound === null) return `${name.padEnd(16)} ${times}`;
  const held = ratio.median <= bound ? "held" : "NOT held";
  return `${name.padEnd(16)} ${times}, ratio ${ratio.median.toFixed(2)} (${low} to ${high}), bound ${bound}: ${held}`;
}
