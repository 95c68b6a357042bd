/** One attempt of one execution, inside the child. */
import type { Context } from "../../../project/authoring.ts";
import { ConsoleState } from "./console-state.ts";
import { type ExitError, isFinal } from "./errors.ts";
import { LineBuffer } from "./line-buffer.ts";
import { OutputError, toJson } from "./output.ts";
import type { Attempt, Owner } from "./parts.ts";
import type { ChildFailure, JobMessage } from "./protocol.ts";
import { Runs } from "./runs.ts";

/**
 * States: *live* from its start; *ended* once its outcome was sent, by its own return or throw, by an error that nothing
 * caught, or by `process.exit`. Whatever its code does afterwards belongs to no execution.
 */
export class Execution implements Attempt {
  readonly id: string;
  readonly runs: Runs;
  readonly #owner: Owner;
  readonly #job: JobMessage;
  readonly #abort = new AbortController();
  #live = true;
  #console: ConsoleState | undefined;
  #lines: LineBuffer | undefined;
  loggedLines = 0;

  constructor(owner: Owner, job: JobMessage) {
    this.#owner = owner;
    this.#job = job;
    this.id = job.executionId;
    this.runs = new Runs(owner, this, this.#abort.signal);
  }

  get live(): boolean {
    return this.#live;
  }

  get console(): ConsoleState {
    this.#console ??= new ConsoleState();
    return this.#console;
  }

  get lines(): LineBuffer {
    this.#lines ??= new LineBuffer((level, line) => this.#owner.write(this, level, line));
    return this.#lines;
  }

  async start(): Promise<void> {
    let phase: ChildFailure = "load";
    try {
      const handler = await this.#owner.modules.load(this.#job.module);
      if (!this.#live) return;
      phase = "thrown";
      const value = await handler(this.#job.input, this.#context());
      if (!this.#live) return;
      const { outputBytes, jsonDepth } = this.#owner.limits;
      const output = toJson(value, "the output", outputBytes, jsonDepth);
      // `toJSON` of users' code may have ended it.
      if (!this.#live) return;
      this.#end();
      this.#owner.done(this, output);
    } catch (error) {
      this.#fail(error, error instanceof OutputError ? "output" : phase);
    }
  }

  exit(error: ExitError): void {
    this.#fail(error, "exit");
  }

  uncaught(error: unknown): void {
    this.#fail(error, "thrown");
  }

  abort(reason: Error): void {
    if (!this.#live) return;
    this.runs.abort(reason);
    this.#abort.abort(reason);
  }

  #fail(error: unknown, reason: ChildFailure): void {
    if (!this.#live) return;
    this.#end();
    this.#owner.failed(this, error, isFinal(error), reason);
  }

  #end(): void {
    this.#lines?.flush();
    this.#live = false;
  }

  #context(): Context {
    const job = this.#job;
    return Object.freeze<Context>({
      executionId: job.executionId,
      attempt: job.attempt,
      trigger: job.trigger,
      deploymentId: job.deploymentId,
      organizationId: job.organizationId,
      environment: job.environment,
      secrets: Object.freeze(job.secrets),
      log: this.#owner.logOf(this),
      signal: this.#abort.signal,
      run: (name, input, options) => this.runs.start(name, input, options),
    });
  }
}
