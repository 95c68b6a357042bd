/**
 * Removes the functions by which users' code could end this process or reach other processes. This is hardening and no
 * boundary: Deno enforces it itself, and the guard only improves the error; on Node it covers what `--permission` does not,
 * as far as is known; on Bun it prevents accidents only.
 */
import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import os, { constants } from "node:os";
import v8 from "node:v8";
import { runtime } from "../../../runtime.ts";
import { current } from "../current-attempt.ts";
import { ExitError } from "../errors.ts";
import { ignoreCodeCaches } from "./code-cache.ts";
import { guardDeno } from "./deno.ts";
import { refusal, replace } from "./replace.ts";

/**
 * @param unixSocket - any Unix socket, of whose class bind and connect are removed; null keeps them, inside a sandbox that
 * contains no socket but the proxy's
 * @returns a function that ends this process
 */
export async function guardProcess(unixSocket: Socket | null): Promise<() => void> {
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
  // Modules of Bun itself use these.
  if (runtime.name !== "bun")
    replace(process, ["binding", "_linkedBinding"], refusal("Cannot load internal modules of the runtime"));
  replace(
    v8,
    ["setFlagsFromString", "setHeapSnapshotNearHeapLimit", "startupSnapshot"],
    refusal("Cannot change the engine's flags: agents and workflows share the runner"),
  );
  if (runtime.name !== "bun") ignoreCodeCaches();
  if (runtime.name === "node" && unixSocket !== null) guardUnixSockets(unixSocket);
  if (deno !== undefined) await guardDeno(deno, unixSocket);
  syncBuiltinESMExports();
  return endProcess;
}

/** Node's permission model does not cover Unix sockets. */
function guardUnixSockets(unixSocket: Socket): void {
  // The class behind every Unix socket, which users' code can reach through any of its instances.
  const { _handle: handle } = unixSocket as unknown as { _handle?: object };
  const pipe: object | undefined = handle === undefined ? undefined : Object.getPrototypeOf(handle);
  const refuseSocket = refusal("Cannot use a Unix socket: agents and workflows may not reach local services");
  if (pipe !== undefined) replace(pipe, ["bind", "connect", "listen", "fchmod"], refuseSocket);
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
