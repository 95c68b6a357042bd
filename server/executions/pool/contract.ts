/**
 * The pool runs users' code in runners and reports the outcome of each attempt. It uses neither the store nor the
 * configuration, so that the command line can load and run modules with the same code.
 *
 * Glossary: a *runner* is a process that runs attempts of one deployment, several at once. An
 * *attempt* is one try of an execution. It runs *alone* when its runner runs no other attempt, before it or at the same time. A
 * *suspect* is an attempt whose runner ended for a reason that cannot be assigned to one of its attempts. Run alone, it
 * shows whether it was the cause. An attempt that waits for a child execution (`ctx.run`) holds no *slot*.
 */
import type { Context } from "../../../project/authoring.ts";
import type { TargetKind, Vars } from "../../../project/definition.ts";
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { RunnerFailure, SerializedError, TargetSchemas, Violation } from "../runner/protocol.ts";
import type { AttemptResponse } from "../runner/response.ts";
import type { SpanMessage } from "../runner/tracing/limits.ts";
import type { Boundary } from "../sandbox/boundary.ts";

export type { SerializedError, TargetSchemas, Violation } from "../runner/protocol.ts";
export type { AttemptResponse } from "../runner/response.ts";

export interface Attempt {
  executionId: string;
  organizationId: string;
  deploymentId: string;
  environment: string;
  kind: TargetKind;
  /** The name of the agent or workflow. */
  name: string;
  /** Path of the module in the package, with `/`. */
  module: string;
  input: JsonObject;
  /** From 1. */
  attemptNumber: number;
  trigger: Context["trigger"];
  /** Counts from the assignment to a runner. Time in the queue does not count. */
  timeoutMs: number;
  secrets: Readonly<Record<string, string>>;
  /** Variables of the project. Absent without any. */
  vars?: Vars;
  /** Names of secrets whose use fails the attempt. */
  unreadableSecrets: readonly string[];
  /** Whether it needs a runner that runs no other attempt at any time. */
  alone: boolean;
  /** The context of its trace: a traceparent and, after a space, a tracestate. Absent without tracing. */
  trace?: string | null;
}

/** Why an attempt failed. The runner reports some reasons, and the server determines the rest. */
export type FailureReason = RunnerFailure | "timeout" | "crash" | "memory";

export type Outcome =
  | {
      type: "succeeded";
      /** JSON text. */
      output: string;
    }
  | {
      type: "failed";
      error: SerializedError;
      /** Whether the code threw an error that excludes retries. */
      final: boolean;
      reason: FailureReason;
    }
  | { type: "cancelled" }
  /**
   * The attempt must run again, alone if it is a suspect. This is not a failure of the agent or workflow. One that has not
   * started returns to the queue as it was.
   */
  | { type: "lost"; reason: string; suspect: boolean; unstarted?: true };

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface LogEntry {
  /** Null for a line that belongs to no execution. */
  executionId: string | null;
  level: LogLevel;
  message: string;
  /** JSON text of an object; absent without fields. */
  fields?: string;
  /** When the line was written, by the runner's clock, in Unix milliseconds. */
  atMs: number;
}

/** A call of `ctx.run`. */
export interface ChildExecutionRequest {
  name: string;
  input: JsonObject;
  /** The option `key` of the call, or null. */
  key: string | null;
  /** The number of the call among those of its execution, from 0. */
  index: number;
  /** The span of users' code that was active at the call; null for that of the attempt. */
  spanId: string | null;
}

export type ChildExecutionResult =
  | { executionId: string; output: JsonValue }
  | { executionId: string; error: SerializedError };

export interface PoolEvents {
  /** Log lines of one runner, in the order in which they were written. Lines of an attempt come before its outcome. */
  log(deploymentId: string, entries: LogEntry[]): void;
  /** An ended span of users' code, within the limits of `runner/tracing/limits.ts`. */
  span?(executionId: string, span: SpanMessage): void;
  /** The response that an attempt sets with `ctx.respond`, before its outcome. */
  respond(executionId: string, response: AttemptResponse): void;
  /**
   * Runs a child execution for `ctx.run` and resolves when it has ended. A rejection is thrown in the users' code.
   *
   * @param executionId - of the parent
   * @param signal - aborted when the parent no longer waits, because it has ended or was aborted
   */
  runChildExecution(
    executionId: string,
    request: ChildExecutionRequest,
    signal: AbortSignal,
  ): Promise<ChildExecutionResult>;
}

export interface PackageLocation {
  deploymentId: string;
  /** Absolute path of the unpacked package. The pool adds `node_modules/svc` and, when it is missing, `package.json`. */
  directory: string;
  /** The project's `network` key: hosts that the code may reach; null or absent allows every host. */
  network?: readonly string[] | null;
  /** Paths of modules in the package that `warm` loads in advance. */
  modules?: readonly string[];
  /** Called when the runner that uses the package has ended or could not be started. May be called more than once. */
  release?(): void;
}

export interface PoolLimits {
  /** Memory that users' code may use in one runner, in addition to the runtime's own. */
  memoryBytes: number;
  outputBytes: number;
  /** Levels of nesting of an output and of the input of `ctx.run`. Default 64. */
  jsonDepth?: number;
  logLineBytes: number;
  /** Per attempt, and per runner and minute for lines that belong to no execution. */
  logLines: number;
  executionsPerRunner: number;
  runnersPerDeployment: number;
  /** A runner without attempts ends after this time. */
  idleMs: number;
  /** Between the abort of `ctx.signal` and the end of the runner. The server uses 5,000. */
  killGraceMs: number;
  /**
   * A runner whose event loop is blocked for longer is killed, and its attempts are suspects. A single attempt is exempt:
   * it runs until its timeout.
   */
  blockedMs: number;
}

export interface PoolOptions {
  limits: PoolLimits;
  /** Of all runners. Default: this process's runtime without a sandbox. */
  boundary?: Boundary;
  events: PoolEvents;
  /** Whether attempts are traced. Default: false. */
  tracing?: boolean;
  /** Absolute path of a folder that only this pool uses. Each runner gets a folder in it, which is removed with the runner. */
  scratchRoot: string;
  locate(deploymentId: string): Promise<PackageLocation>;
}

export interface ModuleCheck {
  /** Path of the module in the package. */
  module: string;
  ok: boolean;
  error?: SerializedError & {
    /** Path in the package, when the error names a location in it. */
    file?: string;
    /** From 1. */
    line?: number;
  };
  /** Absent when the module declares no schemas. */
  schemas?: TargetSchemas;
  /** Of a module with a schema: the violations of each of its inputs, in their order; null for a valid input. */
  inputs?: (Violation[] | null)[];
}

/** Inputs to check against the schema of a module, by its path in the package. */
export type InputsToCheck = Readonly<Record<string, readonly JsonObject[]>>;

/** How many runners of all deployments are in each state, and how many attempts wait for one. */
export interface RunnerCounts {
  starting: number;
  busy: number;
  idle: number;
  /** Accept no more attempts. */
  ending: number;
  waitingAttempts: number;
}

export interface Pools {
  /** Runs an attempt to its outcome. Never rejects. */
  run(attempt: Attempt): Promise<Outcome>;
  /** The number of attempts of a deployment that would be assigned to a runner now, without queueing. */
  free(deploymentId: string): number;
  /**
   * The number of running attempts of a deployment that will probably end within some milliseconds: as many may wait for
   * their places.
   */
  ahead(deploymentId: string): number;
  count(): RunnerCounts;
  /** Aborts `ctx.signal`, then kills the runner after the grace period. False when the execution is not here. */
  cancel(executionId: string): boolean;
  /**
   * Starts a runner of a deployment, unless one runs, and loads the modules that its location names. Reverts `retire`.
   *
   * @throws Error when no runner can be started
   */
  warm(deploymentId: string): Promise<void>;
  /**
   * Loads each module in a runner, exactly as for an execution, and describes its schemas. A module that hangs or ends its
   * process is reported, and the rest are still checked. Log lines go to `events.log`.
   *
   * @param location - its directory must be a copy of the user's, because the pool adds files
   * @param timeoutMs - for each module
   * @throws Error when no runner can be started
   */
  check(
    location: PackageLocation,
    modules: string[],
    timeoutMs: number,
    inputs?: InputsToCheck,
  ): Promise<ModuleCheck[]>;
  /**
   * Checks an input against the schema of a module, in a runner.
   *
   * @returns null when the input is valid, and when it cannot be checked now: no runner answered in time. The attempt checks
   * it again.
   */
  validate(deploymentId: string, module: string, input: JsonObject): Promise<Violation[] | null>;
  /**
   * Sets `free` to 0 and ends the deployment's runners as soon as they have no attempts. Attempts are still accepted:
   * running executions finish on their own deployment.
   */
  retire(deploymentId: string): void;
  /** Rejects new attempts. Attempts that still run after the grace period are handed back as `lost`. A further call
   * waits for the first one. */
  close(graceMs: number): Promise<void>;
}
