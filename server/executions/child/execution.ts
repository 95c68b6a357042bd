/** One attempt of one execution, inside the child. */
import type { Context } from "../../../project/authoring.ts";
import type { JsonObject, JsonValue } from "../../../project/json.ts";
import type { ExitError } from "./errors.ts";
import { isFinal } from "./errors.ts";
import type { Executions } from "./executions.ts";
import { OutputError, toJson } from "./output.ts";
import type { ChildFailure, ErrorMessage, JobMessage } from "./protocol.ts";

/** Room of the input of `ctx.run`, as of a webhook. */
const maxInputBytes = 2 ** 20;

interface PendingRun {
  resolve(output: JsonValue): void;
  reject(error: unknown): void;
}

/**
 * States: *live* from its start; *ended* once its outcome was sent, by its own return or throw, or by `process.exit`.
 * Whatever its code does afterwards belongs to no execution.
 */
export class Execution {
  readonly id: string;
  readonly #owner: Executions;
  readonly #job: JobMessage;
  readonly #abort = new AbortController();
  readonly #runs = new Map<number, PendingRun>();
  #runCount = 0;
  #live = true;
  /** Kept by `console.ts`. */
  loggedLines = 0;
  indentation = "";
  counts: Map<string, number> | undefined;
  timers: Map<string, number> | undefined;

  constructor(owner: Executions, job: JobMessage) {
    this.#owner = owner;
    this.#job = job;
    this.id = job.executionId;
  }

  get live(): boolean {
    return this.#live;
  }

  async start(): Promise<void> {
    let phase: ChildFailure = "load";
    try {
      const handler = await this.#owner.modules.load(this.#job.module);
      if (!this.#live) return;
      phase = "thrown";
      const value = await handler(this.#job.input, this.#context());
      if (!this.#live) return;
      const output = toJson(value, "the output", this.#owner.limits.outputBytes);
      this.#end();
      this.#owner.done(this, output);
    } catch (error) {
      this.#fail(error, error instanceof OutputError ? "output" : phase);
    }
  }

  /** Ends it as failed because its code called `process.exit`. */
  exit(error: ExitError): void {
    this.#fail(error, "exit");
  }

  /** Ends it as failed because of an error that nothing caught. */
  uncaught(error: unknown): void {
    this.#fail(error, "thrown");
  }

  abort(reason: Error): void {
    if (!this.#live) return;
    this.#abort.abort(reason);
    for (const run of this.#runs.values()) run.reject(reason);
    this.#runs.clear();
  }

  async ran(
    index: number,
    childId: string,
    output: JsonValue | undefined,
    error: ErrorMessage | undefined,
  ): Promise<void> {
    const run = this.#runs.get(index);
    if (run === undefined) return;
    this.#runs.delete(index);
    if (error === undefined) return run.resolve(output ?? null);
    try {
      const ExecutionError = await this.#owner.modules.executionError();
      const cause = new Error(error.message);
      cause.name = error.name;
      cause.stack = error.stack;
      run.reject(new ExecutionError(`${error.name}: ${error.message}`, childId, { cause }));
    } catch (failure) {
      run.reject(failure);
    }
  }

  #fail(error: unknown, reason: ChildFailure): void {
    if (!this.#live) return;
    this.#end();
    this.#owner.failed(this, error, isFinal(error), reason);
  }

  #end(): void {
    this.#live = false;
    this.#runs.clear();
  }

  #context(): Context {
    const job = this.#job;
    return Object.freeze({
      executionId: job.executionId,
      attempt: job.attempt,
      trigger: job.trigger,
      deploymentId: job.deploymentId,
      organizationId: job.organizationId,
      environment: job.environment,
      secrets: Object.freeze(job.secrets),
      log: this.#owner.logOf(this),
      signal: this.#abort.signal,
      run: (name: string, input: JsonObject = {}, options: { key?: string } = {}) =>
        this.#run(name, input, options),
    });
  }

  #run(name: string, input: JsonObject, options: { key?: string }): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      if (!this.#live) throw new Error(`Cannot run ${name}: the execution that asks has ended`);
      this.#abort.signal.throwIfAborted();
      if (typeof name !== "string" || name.length > 64) {
        throw new TypeError("Cannot run what has no name: a name is a string of at most 64 characters");
      }
      if (typeof input !== "object" || input === null || Array.isArray(input)) {
        throw new TypeError(`Cannot run ${name}: its input must be an object`);
      }
      if (options.key !== undefined && (typeof options.key !== "string" || options.key.length > 256)) {
        throw new TypeError(`Cannot run ${name}: its key must be a string of at most 256 characters`);
      }
      const json = toJson(input, `the input of ${name}`, maxInputBytes);
      const index = this.#runCount++;
      this.#runs.set(index, { resolve, reject });
      this.#owner.run(this, index, name, JSON.parse(json) as JsonObject, options.key ?? null);
    });
  }
}
