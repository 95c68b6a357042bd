/** One attempt of an execution, inside the runner. */
import type { Context } from "../../../project/authoring.ts";
import type { JsonObject } from "../../../project/json.ts";
import { ChildExecutions } from "./child-executions.ts";
import { type ExitError, isFinal } from "./errors.ts";
import type { Attempt, AttemptHost } from "./interfaces.ts";
import { ConsoleState } from "./lines/console-state.ts";
import { LineBuffer } from "./lines/line-buffer.ts";
import { OutputError, toJson } from "./output.ts";
import type { AttemptMessage, RunnerFailure } from "./protocol.ts";
import { toResponse } from "./response.ts";
import { SchemaError, validate } from "./validate.ts";

/**
 * States: *live* from its start; *ended* after its outcome was sent, because the handler returned or threw, because of an
 * uncaught error, or because of `process.exit`. Later output of its code belongs to no execution.
 */
export class RunningAttempt implements Attempt {
  readonly id: string;
  readonly childExecutions: ChildExecutions;
  readonly #host: AttemptHost;
  readonly #message: AttemptMessage;
  readonly #abort = new AbortController();
  #live = true;
  #responded = false;
  #console: ConsoleState | undefined;
  #lines: LineBuffer | undefined;
  loggedLines = 0;

  constructor(host: AttemptHost, message: AttemptMessage) {
    this.#host = host;
    this.#message = message;
    this.id = message.executionId;
    this.childExecutions = new ChildExecutions(host, this, this.#abort.signal);
  }

  get live(): boolean {
    return this.#live;
  }

  get console(): ConsoleState {
    this.#console ??= new ConsoleState();
    return this.#console;
  }

  get lines(): LineBuffer {
    this.#lines ??= new LineBuffer((level, line) => this.#host.write(this, level, line));
    return this.#lines;
  }

  async start(): Promise<void> {
    let phase: RunnerFailure = "load";
    try {
      const target = await this.#host.modules.load(this.#message.module);
      if (!this.#live) return;
      phase = "thrown";
      const input =
        target.input === undefined
          ? this.#message.input
          : await validate(target.input, "input", this.#message.input);
      if (!this.#live) return;
      const result = await target.run(input as JsonObject, this.#context());
      if (!this.#live) return;
      const value = target.output === undefined ? result : await validate(target.output, "output", result);
      if (!this.#live) return;
      const { outputBytes, jsonDepth } = this.#host.limits;
      const output = toJson(value, "the output", outputBytes, jsonDepth);
      // A `toJSON` method of users' code may have called `process.exit`.
      if (!this.#live) return;
      this.#end();
      this.#host.done(this, output);
    } catch (error) {
      this.#fail(error, reasonOf(error) ?? phase);
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
    this.#host.failed(this, error, reason === "input" || isFinal(error), reason);
  }

  #end(): void {
    this.#lines?.flush();
    this.#live = false;
  }

  #respond(value: unknown): void {
    if (!this.#live) throw new Error("Cannot respond: the execution has ended");
    if (this.#responded) throw new Error("Cannot respond: the execution has responded before");
    const response = toResponse(value, this.#host.limits.jsonDepth);
    // Reading the value may have called users' code.
    if (!this.#live || this.#responded) return;
    this.#responded = true;
    this.#host.respond(this, response);
  }

  #context(): Context {
    const message = this.#message;
    return Object.freeze<Context>({
      executionId: message.executionId,
      attempt: message.attemptNumber,
      trigger: message.trigger,
      deploymentId: message.deploymentId,
      organizationId: message.organizationId,
      environment: message.environment,
      secrets: secretsOf(message),
      vars: Object.freeze(message.vars),
      log: this.#host.logOf(this),
      signal: this.#abort.signal,
      run: ((...call) => this.childExecutions.start(...call)) as Context["run"],
      respond: (response) => this.#respond(response),
    });
  }
}

function reasonOf(error: unknown): RunnerFailure | null {
  if (error instanceof OutputError) return "output";
  if (!(error instanceof SchemaError)) return null;
  return error.name === "InputError" ? "input" : "output";
}

/** The readable secrets. Reading another one fails the attempt; it is not enumerable, so that a copy does not fail. */
function secretsOf({ secrets, unreadableSecrets }: AttemptMessage): Context["secrets"] {
  for (const name of unreadableSecrets) {
    const get = (): never => {
      throw new Error(`Cannot read the secret '${name}': the server cannot decrypt it; set it again.`);
    };
    Object.defineProperty(secrets, name, { get });
  }
  return Object.freeze(secrets);
}
