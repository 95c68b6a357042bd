/** The machine and the versions of a run. */
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { commandOf, runtimes } from "../../support/runtimes.ts";

export interface Machine {
  /** Of the start of the run: `2026-11-22T15:55:00Z`. */
  date: string;
  processor: string;
  processors: number;
  memoryGiB: number;
  system: string;
  /** Load average of the last minute before the run. */
  load: number;
  versions: Record<string, string>;
}

export function describeMachine(): Machine {
  return {
    date: `${new Date().toISOString().slice(0, 19)}Z`,
    processor: cpus()[0]?.model ?? "unknown",
    processors: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    versions: { svc: commit(), ...Object.fromEntries(runtimes.map((name) => [name, versionOf(name)])) },
  };
}

function versionOf(runtime: (typeof runtimes)[number]): string {
  const [program] = commandOf(runtime);
  const output = execFileSync(program, ["--version"], { encoding: "utf8" });
  return /\d+\.\d+\.\d+/.exec(output)?.[0] ?? "unknown";
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}
