/**
 * What a server and its runner say to each other. Both ends send *frames*: the length of the body in bytes as a 32-bit
 * big-endian number, the kind as one byte, and the body. A body of the kind `messages` is a JSON array of messages. One
 * of the kind `output`, which only a runner sends, means `done` with a large output: the length of the execution's id as
 * one byte, the id, and the output.
 *
 * The server trusts nothing that comes from a runner, since users' code shares the runner's process.
 */
import type { Context } from "../../../project/authoring.ts";
import type { JsonObject, JsonValue } from "../../../project/json.ts";

export interface ErrorMessage {
  name: string;
  message: string;
  stack: string;
}

export interface RunnerLimits {
  outputBytes: number;
  jsonDepth: number;
  logLineBytes: number;
  logLines: number;
}

/** From the server to its runner. */
export type ToRunner =
  /** Comes first. */
  | { t: "init"; directory: string; limits: RunnerLimits }
  | { t: "start"; attempt: AttemptMessage }
  /** The attempt's signal is to be aborted. */
  | { t: "abort"; id: string; reason: "timeout" | "cancel"; message: string }
  /** The answer to `run`. */
  | {
      t: "childEnded";
      id: string;
      index: number;
      executionId: string;
      output?: JsonValue;
      error?: ErrorMessage;
    }
  /** Loads a module without running it. */
  | { t: "load"; module: string }
  | { t: "ping"; n: number };

export interface AttemptMessage {
  executionId: string;
  organizationId: string;
  deploymentId: string;
  environment: string;
  module: string;
  input: JsonObject;
  attemptNumber: number;
  trigger: Context["trigger"];
  secrets: Record<string, string>;
}

export const runnerFailures = ["thrown", "exit", "output", "load"] as const;
export type RunnerFailure = (typeof runnerFailures)[number];

export const logLevels = ["debug", "info", "warn", "error"] as const;

export interface LogMessage {
  /** The execution, or null. */
  id: string | null;
  level: (typeof logLevels)[number];
  text: string;
  atMs: number;
}

/** From a runner to its server. */
export type FromRunner =
  /** It has started; it takes attempts after `init`. */
  | { t: "ready" }
  | { t: "done"; id: string; output: string }
  | { t: "fail"; id: string; error: ErrorMessage; final: boolean; reason: RunnerFailure }
  | { t: "log"; entries: LogMessage[] }
  | { t: "runChild"; id: string; index: number; name: string; input: JsonObject; key: string | null }
  | { t: "loaded"; module: string; error: ErrorMessage | null; file: string | null; line: number | null }
  /** The answer to `ping`. */
  | { t: "pong"; n: number }
  /** Users' code did what a process does not recover from for certain: it should be given no further attempts. */
  | { t: "drain" };

/**
 * A module at the root of an unpacked package, through which a runner gets the classes of users' code's `svc`. It lies
 * where users' modules lie, since Deno resolves the same name to another module within `node_modules/svc`.
 */
export const errorsFile = ".svc-errors.js";

/** Outputs of more UTF-16 units travel in a frame of their own. */
export const inlineOutputLength: number = 32 * 1024;

/** Bytes of the input of `ctx.run`, as JSON: as of a webhook. */
export const maxChildInputBytes: number = 2 ** 20;

/** Calls of `ctx.run` of one execution that the server works on at once; further ones wait in the runner. */
export const maxPendingChildExecutions = 256;

/** UTF-16 units of the name of a target, or of the key, in `ctx.run`. */
export const maxTargetNameLength = 64;
export const maxKeyLength = 256;

/** What a frame of messages may take: the largest message, its escapes, and what travels with it. */
export function maxFrameBytes(limits: { outputBytes: number; logLineBytes: number }): number {
  // A log line may double by escapes, and some travel together.
  return Math.max(limits.outputBytes, maxChildInputBytes, 64 * limits.logLineBytes) + 2 ** 20;
}
