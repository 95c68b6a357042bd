/**
 * The messages between the server and a runner. Both sides send *frames*: the length of the body in bytes as a 32-bit
 * big-endian number, the kind as one byte, and the body. A body of the kind `messages` is a JSON array of messages. A body
 * of the kind `output`, which only a runner sends, is a `done` message with a large output: the length of the execution's
 * id as one byte, the id, and the output.
 *
 * The server does not trust a runner, because users' code runs in the same process.
 */
import type { Context } from "../../../project/authoring.ts";
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { AttemptResponse } from "./response.ts";
import type { SpanMessage } from "./tracing/limits.ts";

export interface SerializedError {
  name: string;
  message: string;
  /** With paths of the project only. Empty when there is none. */
  stack: string;
  /** Of an input or output that violates its schema: at least one. */
  violations?: Violation[];
}

/** A rule of a schema that a value violates. */
export interface Violation {
  /** The path in the input or output, for example `input.items[0].id`. */
  field: string;
  description: string;
}

/** The JSON Schemas of a target, as JSON text. Null where it declares none; `{}` when JSON Schema cannot express it. */
export interface TargetSchemas {
  input: string | null;
  output: string | null;
}

export interface RunnerLimits {
  outputBytes: number;
  jsonDepth: number;
  logLineBytes: number;
  logLines: number;
}

/** From the server to a runner. */
export type ToRunner =
  /** The first message. */
  /** @property tracing - the URL of the API of OpenTelemetry; null without tracing */
  | { t: "init"; directory: string; limits: RunnerLimits; tracing: string | null }
  | { t: "start"; attempt: AttemptMessage }
  /** Aborts the signal of an attempt. */
  | { t: "abort"; id: string; reason: "timeout" | "cancel"; message: string }
  /** The answer to `runChild`. */
  | {
      t: "childEnded";
      id: string;
      index: number;
      executionId: string;
      output?: JsonValue;
      error?: SerializedError;
    }
  /** Loads a module without running it. */
  | { t: "load"; module: string }
  /** Checks an input against the schema of a module. */
  | { t: "validate"; n: number; module: string; input: JsonObject }
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
  secrets: Readonly<Record<string, string>>;
  vars: Record<string, string | number | boolean>;
  /** Names of secrets that the server could not open. Code that reads one gets an error. */
  unreadableSecrets: readonly string[];
  /** The context of the attempt: a traceparent and, after a space, a tracestate. Null without tracing. */
  trace: string | null;
}

/** Why an attempt failed: its code threw an error or called `process.exit`, or its input, output or module is invalid. */
export const runnerFailures = ["thrown", "exit", "input", "output", "load"] as const;
export type RunnerFailure = (typeof runnerFailures)[number];

export const logLevels = ["debug", "info", "warn", "error"] as const;

export interface LogMessage {
  /** The execution, or null. */
  id: string | null;
  level: (typeof logLevels)[number];
  text: string;
  /** JSON text of an object, of at most `logLineBytes`. Absent without fields. */
  fields?: string;
  atMs: number;
}

/** From a runner to the server. */
export type FromRunner =
  /** The process has started. It accepts attempts after `init`. */
  | { t: "ready" }
  | { t: "done"; id: string; output: string }
  | { t: "fail"; id: string; error: SerializedError; final: boolean; reason: RunnerFailure }
  | { t: "log"; entries: LogMessage[] }
  /** The response that the code sets with `ctx.respond`. At most once in an attempt. */
  | { t: "respond"; id: string; response: AttemptResponse }
  | {
      t: "runChild";
      id: string;
      index: number;
      name: string;
      input: JsonObject;
      key: string | null;
      /** The span that was active at the call; null for that of the attempt. */
      spanId: string | null;
    }
  /** An ended span of users' code. */
  | { t: "span"; id: string; span: SpanMessage }
  | {
      t: "loaded";
      module: string;
      error: SerializedError | null;
      file: string | null;
      line: number | null;
      schemas: TargetSchemas | null;
    }
  /** The answer to `validate`. Null when the input is valid, or could not be checked. */
  | { t: "validated"; n: number; violations: Violation[] | null }
  /** The answer to `ping`. */
  | { t: "pong"; n: number }
  /** The process may be in an inconsistent state, and should get no more attempts. */
  | { t: "drain" };

/**
 * A module at the root of an unpacked package through which a runner gets the classes of the `svc` that users' code
 * imports. It is in the same folder as users' modules, because Deno resolves `svc` differently within `node_modules/svc`.
 */
export const errorsFile = ".svc-errors.js";

/** The folder of an unpacked package that has its modules without types, if it exists: `.svc-stripped/agents/a.ts`. */
export const strippedFolder = ".svc-stripped";

/** Outputs of more UTF-16 units are sent in a frame of their own. */
export const inlineOutputLength: number = 32 * 1024;

/** Bytes of the input of `ctx.run` as JSON. The same as the default for webhooks. */
export const maxChildInputBytes: number = 2 ** 20;

/** Violations of one value. More are not reported. */
export const maxViolations = 50;

/** Bytes of a JSON Schema. A larger one is not stored. */
export const maxSchemaBytes: number = 64 * 1024;

/** Levels of nesting of a JSON Schema. As many as other JSON of the service. */
export const maxSchemaDepth = 64;

/** Pending calls of `ctx.run` of one execution. Further calls wait in the runner. */
export const maxPendingChildExecutions = 256;

/** UTF-16 units of the name of a target and of the key in `ctx.run`. */
export const maxTargetNameLength = 64;
export const maxKeyLength = 256;

/** The maximum size of a frame of messages: the largest message, its escapes, and the messages that share its frame. */
export function maxFrameBytes(limits: { outputBytes: number; logLineBytes: number }): number {
  // Escapes may double a log line, and several lines share a message.
  return Math.max(limits.outputBytes, maxChildInputBytes, 64 * limits.logLineBytes) + 2 ** 20;
}
