/** What the parts of a runner ask of each other. `Execution` and `Executions` are the classes that do it. */
import type { Log } from "../../../project/authoring.ts";
import type { JsonObject } from "../../../project/json.ts";
import type { ConsoleState } from "./console-state.ts";
import type { ExitError } from "./errors.ts";
import type { LineBuffer } from "./line-buffer.ts";
import type { Modules } from "./modules.ts";
import type { ErrorMessage, LogMessage, RunnerFailure, RunnerLimits } from "./protocol.ts";

/** One attempt of one execution. */
export interface Attempt {
  readonly id: string;
  /** False once its outcome was sent; what its code does afterwards belongs to no execution. */
  readonly live: boolean;
  readonly console: ConsoleState;
  /** What it writes to the standard streams. */
  readonly lines: LineBuffer;
  /** Kept by the owner, which counts them. */
  loggedLines: number;
  /** Ends it as failed because its code called `process.exit`. */
  exit(error: ExitError): void;
  /** Ends it as failed because of an error that nothing caught. */
  uncaught(error: unknown): void;
}

/** A call of `ctx.run`, checked. */
export interface RunRequest {
  index: number;
  name: string;
  input: JsonObject;
  key: string | null;
}

/** Where lines go to. */
export interface LogSink {
  /** Writes a line to the log of an execution, or to the runner's own when that has ended. */
  write(attempt: Attempt | undefined, level: LogMessage["level"], line: string): void;
  describe(thrown: unknown): ErrorMessage;
}

/** The runner, as an execution sees it. */
export interface AttemptHost extends LogSink {
  readonly modules: Modules;
  readonly limits: RunnerLimits;
  done(attempt: Attempt, output: string): void;
  failed(attempt: Attempt, thrown: unknown, final: boolean, reason: RunnerFailure): void;
  run(attempt: Attempt, request: RunRequest): void;
  logOf(attempt: Attempt): Log;
}
