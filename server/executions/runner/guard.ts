/**
 * Removes the functions by which users' code could end this process or reach other processes. Deno enforces this itself,
 * and the guard only improves the error. On Node it covers what `--permission` does not. On Bun it prevents accidents only.
 */
import module, { syncBuiltinESMExports } from "node:module";
import os, { constants } from "node:os";
import workers from "node:worker_threads";
import { threadsBreakGuard } from "../../runtime.ts";
import { current } from "./current-attempt.ts";
import { ExitError } from "./errors.ts";

/** @returns a function that ends this process */
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
  // Node's own functions call the functions with an underscore.
  replace(process, ["kill", "_kill", "_debugProcess", "_debugEnd"], refuseSignal);
  replace(
    os,
    ["setPriority"],
    refusal("Cannot set a priority: agents and workflows may not reach other processes"),
  );
  if (threadsBreakGuard) {
    const refuseThread = refusal(
      "Cannot start a thread: agents and workflows run in one thread on this runtime",
    );
    // A thread has its own copies of these functions. The hooks of `module.register` run in a thread.
    replace(workers, ["Worker"], refuseThread);
    replace(module, ["register"], refuseThread);
  }
  syncBuiltinESMExports();
  return endProcess;
}

/** Keeps the functions that end this process before they are removed. */
function killer(): () => void {
  const { pid, kill } = process;
  // Node's `process.kill` looks this function up at each call.
  const { _kill: part } = process as unknown as { _kill?: (pid: number, signal: number) => void };
  return () => {
    if (part !== undefined) part.call(process, pid, constants.signals.SIGKILL);
    else kill.call(process, pid, "SIGKILL");
  };
}

function refusal(message: string): () => never {
  // Not an arrow function, so that a call with `new` gives this error too.
  return function refuse(): never {
    throw new Error(message);
  };
}

/** Replaces the members that exist. They stay writable, because libraries wrap them. */
function replace(owner: object, names: readonly string[], value: unknown): void {
  for (const name of names) {
    if (name in owner) Object.defineProperty(owner, name, { value, writable: true, configurable: true });
  }
}
