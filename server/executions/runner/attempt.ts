/** One attempt of one execution, inside the runner. */
import type { Context } from "../../../project/authoring.ts";
import { ChildExecutions } from "./child-executions.ts";
import { ConsoleState } from "./console-state.ts";
import { type ExitError, isFinal } from "./errors.ts";
import type { Attempt, AttemptHost } from "./interfaces.ts";
import { LineBuffer } from "./line-buffer.ts";
import { OutputError, toJson } from "./output.ts";
import type { AttemptMessage, RunnerFailure } from "./protocol.ts";

/**
 * States: *live* from its start; *ended* once its outcome was sent, by its own return or throw, by an error that nothing
 * caught, or by `process.exit`. Whatever its code does afterwards belongs to no execution.
 */
export class RunningAttempt implements Attempt {
  readonly id: string;
  readonly childExecutions: ChildExecutions;
  readonly #owner: AttemptHost;
  readonly #attempt: AttemptMessage;
  readonly #abort = new AbortController();
  #live = true;
  #console: ConsoleState | undefined;
  #lines: LineBuffer | undefined;
  loggedLines = 0;

  constructor(owner: AttemptHost, attempt: AttemptMessage) {
    this.#owner = owner;
    this.#attempt = attempt;
    this.id = attempt.executionId;
    this.childExecutions = new ChildExecutions(owner, this, this.#abort.signal);
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
    let phase: RunnerFailure = "load";
    try {
      const handler = await this.#owner.modules.load(this.#attempt.module);
      if (!this.#live) return;
      phase = "thrown";
      const value = await handler(this.#attempt.input, this.#context());
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
    this.childExecutions.abort(reason);
    this.#abort.abort(reason);
  }

  #fail(error: unknown, reason: RunnerFailure): void {
    if (!this.#live) return;
    this.#end();
    this.#owner.failed(this, error, isFinal(error), reason);
  }

  #end(): void {
    this.#lines?.flush();
    this.#live = false;
  }

  #context(): Context {
    const attempt = this.#attempt;
    return Object.freeze<Context>({
      executionId: attempt.executionId,
      attempt: attempt.attemptNumber,
      trigger: attempt.trigger,
      deploymentId: attempt.deploymentId,
      organizationId: attempt.organizationId,
      environment: attempt.environment,
      secrets: Object.freeze(attempt.secrets),
      log: this.#owner.logOf(this),
      signal: this.#abort.signal,
      run: (name, input, options) => this.childExecutions.start(name, input, options),
    });
  }
}
