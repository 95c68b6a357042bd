/**
 * Takes from users' code what would end this process or reach others. Where the runtime enforces that itself (Deno), this
 * only gives the better error; on Node it closes what `--permission` leaves open; on Bun it stops accidents, not intent.
 */
import module, { syncBuiltinESMExports } from "node:module";
import os, { constants } from "node:os";
import workers from "node:worker_threads";
import { threadsBreakGuard } from "../../runtime.ts";
import { current } from "./current-attempt.ts";
import { ExitError } from "./errors.ts";

/** Returns what really ends the process. */
export function guardProcess(): () => void {
  const endProcess = killer();

  const exit = (code?: unknown): never => {
    const error = new ExitError(code ?? process.exitCode);
    current()?.exit(error);
    throw error;
  };
  const deno = (globalThis as { Deno?: object }).Deno;
  replace(process, ["exit", "reallyExit"], exit);
  if (deno !== undefined) replace(deno, ["exit"], exit);

  const refuseSignal = refusal("Cannot send a signal: agents and workflows may not reach other processes");
  // Under the names with an underscore are the parts that Node's own functions are made of.
  replace(process, ["kill", "_kill", "_debugProcess", "_debugEnd"], refuseSignal);
  replace(
    os,
    ["setPriority"],
    refusal("Cannot set a priority: agents and workflows may not reach processes"),
  );
  if (threadsBreakGuard) {
    const refuseThread = refusal(
      "Cannot start a thread: agents and workflows run in one thread on this runtime",
    );
    // A thread has its own copies of all this. The hooks of `register` run in one too.
    replace(workers, ["Worker"], refuseThread);
    replace(module, ["register"], refuseThread);
  }
  syncBuiltinESMExports();
  return endProcess;
}

/** Ends this process by what is about to be taken away. */
function killer(): () => void {
  const { pid, kill } = process;
  // Node's `kill` looks this up when it is called.
  const { _kill: part } = process as unknown as { _kill?: (pid: number, signal: number) => void };
  return () => {
    if (part !== undefined) part.call(process, pid, constants.signals.SIGKILL);
    else kill.call(process, pid, "SIGKILL");
  };
}

function refusal(message: string): () => never {
  // Not an arrow, so that `new` reaches the message too.
  return function refuse(): never {
    throw new Error(message);
  };
}

/** Replaces those of the members that exist. They stay writable, since libraries wrap them; what they were is gone. */
function replace(owner: object, names: readonly string[], value: unknown): void {
  for (const name of names) {
    if (name in owner) Object.defineProperty(owner, name, { value, writable: true, configurable: true });
  }
}
