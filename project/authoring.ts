/**
 * The module `svc` that agents and workflows import. It imports only types: a runner may read this file, but no other file
 * of this package.
 */

import type { Schema, SchemaInput, SchemaOutput } from "./inputs/standard-schema.ts";
import type {
  InputAndOptions,
  OutputOf,
  SecretValues,
  TargetName,
  VariableValues,
} from "./inputs/targets.ts";
import type { JsonObject } from "./json.ts";

export type { Schema, SchemaInput, SchemaOutput } from "./inputs/standard-schema.ts";
// Not by name: a declaration of `Targets` in a project augments the exports of this module.
export type * from "./inputs/targets.ts";

/** The execution of an agent or workflow, and the functions available to it. */
export interface Context {
  /** `exe_` and 26 characters. */
  readonly executionId: string;
  /** From 1. Greater than 1 after a failed attempt. */
  readonly attempt: number;
  readonly trigger: "webhook" | "schedule" | "run" | "replay" | "child" | "failure" | "test";
  readonly deploymentId: string;
  readonly organizationId: string;
  readonly environment: string;
  /** The secrets of the environment and of the organization, by name. */
  readonly secrets: SecretValues;
  /** `vars` of the project file with the values of the environment, by name. */
  readonly vars: VariableValues;
  readonly log: Log;
  /** Aborted when the execution times out or is cancelled. The process is terminated 5 seconds later. */
  readonly signal: AbortSignal;
  /**
   * Runs another agent or workflow of the same deployment as a child execution and returns its output.
   *
   * @param name - of the agent or workflow
   * @param input - an object that JSON can represent, `{}` by default
   * @param options - `key` identifies the child execution within this execution, so that a later attempt reuses its
   *   result; without a key the order of the calls identifies it
   * @throws ExecutionError when the child execution failed or was cancelled
   */
  run<Name extends TargetName>(
    name: Name,
    ...inputAndOptions: InputAndOptions<Name, { key?: string }>
  ): Promise<OutputOf<Name>>;
  /**
   * Sets the response to the webhook request that started the execution, when the webhook has `respond: output`. It is sent
   * immediately, and the execution continues. It is stored with every execution, also when no request waits for it; the
   * first response of the execution counts, also among its attempts.
   *
   * @throws Error when this attempt has responded before or has ended, TypeError when the response is invalid
   */
  respond(response: WebhookResponse): void;
}

/** A response to a webhook request. At most 1 MiB as JSON. */
export interface WebhookResponse {
  /** 200 to 599, by default 200. 204, 205 and 304 have no body. */
  status?: number;
  /**
   * At most 64, of printable ASCII. Headers of the connection, of the whole origin such as `Set-Cookie`, and of the server
   * are refused.
   */
  headers?: Readonly<Record<string, string>>;
  /** Text, or a value that is sent as JSON. The content type is `text/plain` or `application/json` by default. */
  body?: unknown;
}

/**
 * Writes to the execution's log, as `console` does. A plain object as the last value after a text is not formatted: its
 * members become the fields of a structured entry, which `svc logs --json` and `--field` see. Fields that JSON cannot
 * represent, or of more than 16 KiB by default, are formatted.
 */
export interface Log {
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}

/** The function of an agent or workflow. Its output must be serializable as JSON. */
export type Handler<Input = JsonObject, Output = unknown> = (
  input: Input,
  ctx: Context,
) => Output | Promise<Output>;

/** An agent or workflow with schemas. Of an input that violates its schema, the function is not called. */
export interface Definition<
  Input extends Schema | undefined = Schema | undefined,
  Output extends Schema | undefined = Schema | undefined,
  Result = unknown,
> {
  /** The function receives the value that the schema returns. */
  readonly input?: Input;
  /** The output is the value that the schema returns. */
  readonly output?: Output;
  readonly run: Handler<
    Input extends Schema ? SchemaOutput<Input> : JsonObject,
    Output extends Schema ? SchemaInput<Output> : Result
  >;
}

/** Defines an agent. Equivalent to a plain `export default async function`, with types. */
export function defineAgent<Input = JsonObject, Output = unknown>(
  handler: Handler<Input, Output>,
): Handler<Input, Output>;
/** Defines an agent with schemas of any library that implements Standard Schema. */
export function defineAgent<
  Input extends Schema | undefined = undefined,
  Output extends Schema | undefined = undefined,
  Result = unknown,
>(definition: Definition<Input, Output, Result>): Definition<Input, Output, Result>;
export function defineAgent(target: unknown): unknown {
  return target;
}

/** Defines a workflow. Equivalent to a plain `export default async function`, with types. */
export function defineWorkflow<Input = JsonObject, Output = unknown>(
  handler: Handler<Input, Output>,
): Handler<Input, Output>;
/** Defines a workflow with schemas of any library that implements Standard Schema. */
export function defineWorkflow<
  Input extends Schema | undefined = undefined,
  Output extends Schema | undefined = undefined,
  Result = unknown,
>(definition: Definition<Input, Output, Result>): Definition<Input, Output, Result>;
export function defineWorkflow(target: unknown): unknown {
  return target;
}

/** Throw this error to fail an execution without further retries. */
export class FinalError extends Error {
  override readonly name: string = "FinalError";
  /** Identifies the error to the executor, even from another copy of this class. */
  readonly final = true as const;
}

/** A rule of a schema that a value violates. */
export interface Violation {
  /** The path of the value, for example `input.items[0].id`. */
  readonly field: string;
  readonly description: string;
}

/** Thrown by `ctx.run` when a child execution failed or was cancelled. */
export class ExecutionError extends Error {
  override readonly name: string = "ExecutionError";
  /** The id of the child execution. */
  readonly executionId: string;
  /** The rules of a schema that its input or output violates. Empty after other errors. */
  readonly violations: readonly Violation[];

  constructor(
    message: string,
    executionId: string,
    options: ErrorOptions & { violations?: readonly Violation[] } = {},
  ) {
    super(message, options);
    this.executionId = executionId;
    this.violations = options.violations ?? [];
  }
}
