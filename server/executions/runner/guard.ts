/**
 * Removes the functions by which users' code could end this process or reach other processes. This is hardening and no
 * boundary: Deno enforces it itself, and the guard only improves the error; on Node it covers what `--permission` does not,
 * as far as is known; on Bun it prevents accidents only.
 */
import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import os, { constants } from "node:os";
import v8 from "node:v8";
import { runtime } from "../../runtime.ts";
import { current } from "./current-attempt.ts";
import { ExitError } from "./errors.ts";

/**
 * @param unixSocket - any Unix socket, of whose class bind and connect are removed; null keeps them, inside a sandbox that
 * contains no socket but the proxy's
 * @returns a function that ends this process
 */
export function guardProcess(unixSocket: Socket | null): () => void {
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
  if (runtime.name === "node") guardNode(unixSocket);
  syncBuiltinESMExports();
  return endProcess;
}

/** The permission model covers neither V8's flags nor Unix sockets. */
function guardNode(unixSocket: Socket | null): void {
  replace(
    v8,
    ["setFlagsFromString", "setHeapSnapshotNearHeapLimit", "startupSnapshot"],
    refusal("Cannot change the engine's flags: agents and workflows share the runner"),
  );
  replace(process, ["binding", "_linkedBinding"], refusal("Cannot load internal modules of Node"));
  if (unixSocket === null) return;
  // The class behind every Unix socket, which users' code can reach through any of its instances.
  const { _handle: handle } = unixSocket as unknown as { _handle?: object };
  const pipe: object | undefined = handle === undefined ? undefined : Object.getPrototypeOf(handle);
  const refuseSocket = refusal("Cannot use a Unix socket: agents and workflows may not reach local services");
  if (pipe !== undefined) replace(pipe, ["bind", "connect", "listen"], refuseSocket);
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
