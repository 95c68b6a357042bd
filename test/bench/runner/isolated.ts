/**
 * Runs a case in a process of its own, so that cases do not share compiled code and garbage, and one that fails does not end
 * the run.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CaseResult, Options } from "./case.ts";

export type Outcome = Omit<CaseResult, "name" | "summary">;

const program = fileURLToPath(new URL("child.ts", import.meta.url));
/** A case that takes longer has stopped making progress. */
const limitMs = 420_000;

export async function runIsolated(name: string, options: Options): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome = await new Promise<Partial<Outcome>>((resolve) => {
    // Standard output belongs to the document.
    const child = fork(program, [name, JSON.stringify(options)], { stdio: ["ignore", 2, 2, "ipc"] });
    const timer = setTimeout(() => child.kill("SIGTERM"), limitMs);
    let message: Partial<Outcome> | null = null;
    child.on("message", (received) => {
      message = received as Partial<Outcome>;
    });
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      resolve(message ?? { failed: `The process of the case ended with ${signal ?? code}.` });
    });
  });
  return { seconds: (performance.now() - startedAt) / 1000, rows: [], ...outcome };
}
