/**
 * What users import as `svc` in an agent or a workflow. This file imports nothing but types: it is loaded in the child
 * process that runs users' code, which may read this file and nothing around it.
 */
import type { JsonObject, JsonValue } from "./json.ts";

/** What an agent or a workflow is told about its execution, and what it can do there. */
export interface Context {
  /** `exe_` and 26 characters. */
  readonly executionId: string;
  /** From 1; more than 1 when an attempt before failed. */
  readonly attempt: number;
  readonly trigger: "webhook" | "schedule" | "run" | "replay" | "child" | "test";
  readonly deploymentId: string;
  readonly organizationId: string;
  readonly environment: string;
  /** The secrets of the organization, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Aborted when the execution times out or is cancelled; 5 seconds later its process is ended. */
  readonly signal: AbortSignal;
  /**
   * Runs another agent or workflow of the same deployment as a child execution and returns its output.
   *
   * @param name - of the agent or workflow
   * @param input - a JSON object, `{}` by default
   * @param options - `key` names the child within this execution, so that a later attempt finds its result again;
   *   without it the order of the calls decides
   * @throws ExecutionError when the child failed or was cancelled
   */
  run(name: string, input?: JsonObject, options?: { key?: string }): Promise<JsonValue>;
}

/** Writes to the execution's log, as `console` does. */
export interface Log {
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}

/** An agent or workflow: takes the input, returns what JSON can hold. */
export type Handler<Input = JsonObject, Output = unknown> = (
  input: Input,
  ctx: Context,
) => Output | Promise<Output>;

/** Gives an agent's function its types. A plain `export default async function` is the same thing. */
export function defineAgent<Input = JsonObject, Output = unknown>(
  handler: Handler<Input, Output>,
): Handler<Input, Output> {
  return handler;
}

/** Gives a workflow's function its types. A plain `export default async function` is the same thing. */
export function defineWorkflow<Input = JsonObject, Output = unknown>(
  handler: Handler<Input, Output>,
): Handler<Input, Output> {
  return handler;
}

/** Thrown to end an execution as failed at once, whatever retries are left. */
export class FinalError extends Error {
  override readonly name: string = "FinalError";
  /** How the executor knows a final error, whichever copy of this class threw it. */
  readonly final = true as const;
}

/** Thrown by `ctx.run` when a child execution failed or was cancelled. */
export class ExecutionError extends Error {
  override readonly name: string = "ExecutionError";
  /** The child's id. */
  readonly executionId: string;

  constructor(message: string, executionId: string, options?: ErrorOptions) {
    super(message, options);
    this.executionId = executionId;
  }
}
