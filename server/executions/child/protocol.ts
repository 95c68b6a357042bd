/**
 * What a server and its child say to each other. Both ends send *frames*: the length of the body in bytes as a 32-bit
 * big-endian number, the kind as one byte, and the body. A body of the kind `messages` is a JSON array of messages. One
 * of the kind `output`, which only a child sends, means `done` with a large output: the length of the execution's id as
 * one byte, the id, and the output.
 *
 * The server trusts nothing that comes from a child, since users' code shares the child's process.
 */
import type { Context } from "../../../project/authoring.ts";
import type { JsonObject, JsonValue } from "../../../project/json.ts";

export interface ErrorMessage {
  name: string;
  message: string;
  stack: string;
}

export interface ChildLimits {
  outputBytes: number;
  jsonDepth: number;
  logLineBytes: number;
  logLines: number;
}

/** From the server to its child. */
export type ToChild =
  /** Comes first. */
  | { t: "init"; directory: string; limits: ChildLimits }
  | { t: "job"; job: JobMessage }
  /** The job's signal is to be aborted. */
  | { t: "abort"; id: string; reason: "timeout" | "cancel"; message: string }
  /** The answer to `run`. */
  | {
      t: "ran";
      id: string;
      index: number;
      executionId: string;
      output?: JsonValue;
      error?: ErrorMessage;
    }
  /** Loads a module without running it. */
  | { t: "load"; module: string }
  | { t: "ping"; n: number };

export interface JobMessage {
  executionId: string;
  organizationId: string;
  deploymentId: string;
  environment: string;
  module: string;
  input: JsonObject;
  attempt: number;
  trigger: Context["trigger"];
  secrets: Record<string, string>;
}

export const childFailures = ["thrown", "exit", "output", "load"] as const;
export type ChildFailure = (typeof childFailures)[number];

export const logLevels = ["debug", "info", "warn", "error"] as const;

export interface LogMessage {
  /** The execution, or null. */
  id: string | null;
  level: (typeof logLevels)[number];
  text: string;
  atMs: number;
}

/** From a child to its server. */
export type FromChild =
  /** It has started; it takes jobs after `init`. */
  | { t: "ready" }
  | { t: "done"; id: string; output: string }
  | { t: "fail"; id: string; error: ErrorMessage; final: boolean; reason: ChildFailure }
  | { t: "log"; entries: LogMessage[] }
  | { t: "run"; id: string; index: number; name: string; input: JsonObject; key: string | null }
  | { t: "loaded"; module: string; error: ErrorMessage | null; file: string | null; line: number | null }
  /** The answer to `ping`. */
  | { t: "pong"; n: number }
  /** Users' code did what a process does not recover from for certain: it should be given no further jobs. */
  | { t: "spoiled" };

/**
 * A module at the root of an unpacked package, through which a child gets the classes of users' code's `svc`. It lies
 * where users' modules lie, since Deno resolves the same name to another module within `node_modules/svc`.
 */
export const errorsFile = ".svc-errors.js";

/** Outputs of more UTF-16 units travel in a frame of their own. */
export const inlineOutputLength: number = 32 * 1024;

/** Bytes of the input of `ctx.run`, as JSON: as of a webhook. */
export const maxRunInputBytes: number = 2 ** 20;

/** Calls of `ctx.run` of one execution that the server works on at once; further ones wait in the child. */
export const maxPendingRuns = 256;

/** UTF-16 units of the name of a target, or of the key, in `ctx.run`. */
export const maxRunNameLength = 64;
export const maxRunKeyLength = 256;

/** What a frame of messages may take: the largest message, its escapes, and what travels with it. */
export function maxFrameBytes(limits: { outputBytes: number; logLineBytes: number }): number {
  // A log line may double by escapes, and some travel together.
  return Math.max(limits.outputBytes, maxRunInputBytes, 64 * limits.logLineBytes) + 2 ** 20;
}
