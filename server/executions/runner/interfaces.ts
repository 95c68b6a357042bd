/** The interfaces between the parts of a runner. `RunningAttempt` and `Attempts` implement them. */
import type { Log } from "../../../project/authoring.ts";
import type { JsonObject } from "../../../project/json.ts";
import type { ExitError } from "./errors.ts";
import type { ConsoleState } from "./lines/console-state.ts";
import type { LineBuffer } from "./lines/line-buffer.ts";
import type { Modules } from "./modules.ts";
import type { LogMessage, RunnerFailure, RunnerLimits, SerializedError } from "./protocol.ts";
import type { AttemptResponse } from "./response.ts";

/** One attempt of one execution. */
export interface Attempt {
  readonly id: string;
  /** False after its outcome was sent. Later output of its code belongs to no execution. */
  readonly live: boolean;
  readonly console: ConsoleState;
  /** Lines written to the standard streams. */
  readonly lines: LineBuffer;
  /** Updated by the log sink. */
  loggedLines: number;
  /** Fails the attempt because its code called `process.exit`. */
  exit(error: ExitError): void;
  /** Fails the attempt because of an uncaught error. */
  uncaught(error: unknown): void;
}

/** A validated call of `ctx.run`. */
export interface ChildExecutionCall {
  index: number;
  name: string;
  input: JsonObject;
  key: string | null;
  /** The active span; null for that of the attempt. */
  spanId: string | null;
}

/** Writes log lines. */
export interface LogSink {
  readonly limits: RunnerLimits;
  /**
   * Writes a line to the log of an execution, or to the runner's own log when the attempt has ended.
   * @param fields - JSON text of an object
   */
  write(attempt: Attempt | undefined, level: LogMessage["level"], line: string, fields?: string): void;
  describe(thrown: unknown): SerializedError;
}

/** The runner, as an attempt sees it. */
export interface AttemptHost extends LogSink {
  readonly modules: Modules;
  done(attempt: Attempt, output: string): void;
  failed(attempt: Attempt, thrown: unknown, final: boolean, reason: RunnerFailure): void;
  respond(attempt: Attempt, response: AttemptResponse): void;
  runChild(attempt: Attempt, call: ChildExecutionCall): void;
  logOf(attempt: Attempt): Log;
  activeSpanId(attempt: Attempt): string | null;
}
