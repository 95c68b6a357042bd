/**
 * Takes from users' code what ends this process or signals others. Where the runtime enforces that itself (Deno),
 * this only gives the better error; on Node it closes what `--permission` leaves open; on Bun it stops accidents, not
 * intent.
 */
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import workers from "node:worker_threads";
import { runtime } from "../../runtime.ts";
import { current } from "./current.ts";
import { ExitError } from "./errors.ts";

/** Returns what really ends the process. */
export function guardProcess(): () => void {
  const kill = process.kill.bind(process);
  const { pid } = process;
  const members = process as unknown as Record<string, unknown>;

  const exit = (code?: unknown): never => {
    const error = new ExitError(code ?? process.exitCode);
    current()?.exit(error);
    throw error;
  };
  members.exit = exit;
  members.reallyExit = exit;
  const deno = (globalThis as { Deno?: Record<string, unknown> }).Deno;
  if (deno !== undefined) deno.exit = exit;

  const refuse = (what: string): (() => never) => {
    return () => {
      throw new Error(`Cannot ${what}: agents and workflows may not reach other processes`);
    };
  };
  members.kill = refuse("send a signal");
  // What Node's own functions are made of, reachable by their names.
  for (const name of ["_kill", "_debugProcess", "_debugEnd"]) {
    if (name in process) members[name] = refuse("send a signal");
  }
  os.setPriority = refuse("set the priority of a process");
  if (runtime.name === "node") {
    // A thread would have these functions anew.
    Object.defineProperty(workers, "Worker", {
      value: class Worker {
        constructor() {
          throw new Error("Cannot start a thread: agents and workflows run in one thread on Node");
        }
      },
    });
  }
  syncBuiltinESMExports?.();
  return () => kill(pid, "SIGKILL");
}
