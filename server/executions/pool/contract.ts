/**
 * The pool: runs users' code in runner processes and says what became of it. It knows no store and no configuration, so
 * that the command line can load and check modules with the same code.
 *
 * Glossary: a *attempt* is one attempt of one execution. A *runner* is a process of the same runtime that runs attempts of one
 * deployment, many at once. A attempt is *alone* when its runner runs nothing else, before or beside it. A *suspect* is a
 * attempt that was running when its runner died for a reason that no single attempt explains; run alone, it shows whether it
 * was the cause. A attempt that waits for another execution (`ctx.run`) holds no *slot*.
 */
import type { Context } from "../../../project/authoring.ts";
import type { TargetKind } from "../../../project/definition.ts";
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { Spawn } from "./spawn.ts";

export interface Attempt {
  executionId: string;
  organizationId: string;
  deploymentId: string;
  environment: string;
  kind: TargetKind;
  /** Of the agent or workflow. */
  name: string;
  /** Path of the module in the package, with `/`. */
  module: string;
  input: JsonObject;
  /** From 1. */
  attemptNumber: number;
  trigger: Context["trigger"];
  /** From the moment at which a runner is given the attempt; waiting in the queue does not count. */
  timeoutMs: number;
  secrets: Record<string, string>;
  /** It gets a runner of its own, which has run nothing before and runs nothing after. */
  alone: boolean;
}

/** Why a attempt failed: its code threw, took too long, or brought its process to an end. */
export type FailureReason = "thrown" | "timeout" | "exit" | "crash" | "memory" | "output" | "load";

export interface SerializedError {
  name: string;
  message: string;
  /** With paths of the project only; empty when there is none. */
  stack: string;
}

export type Outcome =
  | {
      type: "succeeded";
      /** JSON text. */
      output: string;
    }
  | {
      type: "failed";
      error: SerializedError;
      /** The code asked not to be tried again. */
      final: boolean;
      reason: FailureReason;
    }
  | { type: "cancelled" }
  /** Not an attempt of the agent's: the attempt is to be run again, alone if it is a suspect. */
  | { type: "lost"; reason: string; suspect: boolean };

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogEntry {
  /** Null for what was written outside of any execution. */
  executionId: string | null;
  level: LogLevel;
  message: string;
  /** When it was written, by the clock of the process that wrote it, in Unix milliseconds. */
  atMs: number;
}

/** A call of `ctx.run`. */
export interface ChildExecutionRequest {
  name: string;
  input: JsonObject;
  /** From the options of the call; null without. */
  key: string | null;
  /** Place of the call among those of its execution, from 0. */
  index: number;
}

export type ChildExecutionResult =
  | { executionId: string; output: JsonValue }
  | { executionId: string; error: SerializedError };

export interface PoolEvents {
  /** Lines of one runner, in the order in which it wrote them. The lines of a attempt come before its outcome. */
  log(deploymentId: string, entries: LogEntry[]): void;
  /**
   * Runs an execution for `ctx.run`; resolves when that has ended. A rejection is thrown in the attempt as it is.
   *
   * @param executionId - of the attempt that asks
   * @param signal - aborted when the attempt has ended or was given up: nobody waits any longer
   */
  runChildExecution(
    executionId: string,
    request: ChildExecutionRequest,
    signal: AbortSignal,
  ): Promise<ChildExecutionResult>;
}

export interface PackageLocation {
  deploymentId: string;
  /** The unpacked package, absolute. The pool adds `node_modules/svc` and, when it is missing, `package.json`. */
  directory: string;
  /** Paths of modules in the package that `warm` loads before they are asked for. */
  modules?: readonly string[];
}

export interface PoolLimits {
  /** What users' code may take of memory, over what its runtime takes by itself. */
  memoryBytes: number;
  outputBytes: number;
  /** Levels of nesting of an output, and of the input of `ctx.run`. Default 64. */
  jsonDepth?: number;
  logLineBytes: number;
  /** Per attempt; and per runner and minute for lines that belong to no attempt. */
  logLines: number;
  executionsPerRunner: number;
  runnersPerDeployment: number;
  /** A runner without a attempt ends after this time. */
  idleMs: number;
  /** Between the abort of `ctx.signal` and the end of the runner. 5,000 by default in the server. */
  killGraceMs: number;
  /**
   * A runner whose event loop stands still for longer is ended and its attempts are suspects, unless there is only one: that
   * one lives until its timeout.
   */
  blockedMs: number;
}

export interface PoolOptions {
  limits: PoolLimits;
  events: PoolEvents;
  /** A folder of this pool's own, absolute; each runner gets one inside it, which goes with the runner. */
  scratchRoot: string;
  locate(deploymentId: string): Promise<PackageLocation>;
  /** How processes are started. Default: from this one. */
  spawn?: Spawn;
}

export interface ModuleCheck {
  /** Path of the module in the package. */
  module: string;
  ok: boolean;
  error?: SerializedError & {
    /** In the package, when the error names a place in it. */
    file?: string;
    /** From 1. */
    line?: number;
  };
}

export interface Pools {
  /** Runs a attempt to its outcome. Never rejects. */
  run(attempt: Attempt): Promise<Outcome>;
  /** How many attempts of a deployment would be given to a runner now, without queueing. */
  free(deploymentId: string): number;
  /** Aborts `ctx.signal`, then ends the runner after the grace. False when no such attempt runs or waits here. */
  cancel(executionId: string): boolean;
  /**
   * Starts one runner of a deployment, if none runs, and has it load the modules that its location names. Takes back
   * `retire`.
   *
   * @throws Error when no runner could be started
   */
  warm(deploymentId: string): Promise<void>;
  /**
   * Loads each module in a runner, exactly as for running. A module must export a function by default. One that
   * hangs or ends its process is reported, and the others are still checked. What they log goes to `events.log`.
   *
   * @param location - its directory must be a copy of the user's, since the pool adds to it
   * @param timeoutMs - for each module
   * @throws Error when no runner can be started, whatever the module
   */
  check(location: PackageLocation, modules: string[], timeoutMs: number): Promise<ModuleCheck[]>;
  /**
   * From now on `free` is 0 and runners of the deployment end as soon as they have no attempt. RunningAttempts that are run
   * nevertheless still are: executions in flight finish on their own deployment.
   */
  retire(deploymentId: string): void;
  /** Takes no new attempt at all; what still runs after the grace is handed back as `lost`. */
  close(graceMs: number): Promise<void>;
}
