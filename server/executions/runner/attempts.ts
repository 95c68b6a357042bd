/** All attempts in this runner, and the code that runs outside of them. */
import type { Log } from "../../../project/authoring.ts";
import type { JsonObject } from "../../../project/json.ts";
import { RunningAttempt } from "./attempt.ts";
import type { Channel } from "./channel.ts";
import { current, runIn } from "./current-attempt.ts";
import { ErrorDescriber, ExitError } from "./errors.ts";
import type { Attempt, AttemptHost, ChildExecutionCall } from "./interfaces.ts";
import { schemasOf } from "./json-schema.ts";
import { logFor } from "./lines/console.ts";
import { cutLine } from "./lines/cut-line.ts";
import type { Modules } from "./modules.ts";
import type {
  AttemptMessage,
  LogMessage,
  RunnerFailure,
  RunnerLimits,
  SerializedError,
  ToRunner,
  Violation,
} from "./protocol.ts";
import type { AttemptResponse } from "./response.ts";
import { RunnerTracing } from "./tracing/index.ts";
import { violationsOf } from "./validate.ts";

export class Attempts implements AttemptHost {
  readonly modules: Modules;
  readonly limits: RunnerLimits;
  readonly #channel: Channel;
  readonly #describer: ErrorDescriber;
  readonly #live = new Map<string, RunningAttempt>();
  /** Resolves when users' code may be loaded; null without tracing. */
  readonly #tracing: Promise<RunnerTracing | null> | null;
  #openTracing: RunnerTracing | null = null;

  /** @param tracing - the URL of the API of OpenTelemetry; null without tracing */
  constructor(
    channel: Channel,
    directory: string,
    modules: Modules,
    limits: RunnerLimits,
    tracing: string | null,
  ) {
    this.#channel = channel;
    this.modules = modules;
    this.limits = limits;
    this.#describer = new ErrorDescriber(directory, process.cwd());
    this.#tracing = tracing === null ? null : this.#startTracing(tracing);
  }

  receive(message: Exclude<ToRunner, { t: "init" | "ping" }>): void {
    switch (message.t) {
      case "start":
        this.#start(message.attempt);
        return;
      case "abort": {
        const name = message.reason === "timeout" ? "TimeoutError" : "AbortError";
        this.#live.get(message.id)?.abort(new DOMException(message.message, name));
        return;
      }
      case "childEnded": {
        const { id, index, executionId, output, error } = message;
        void this.#live.get(id)?.childExecutions.settle(index, executionId, output, error);
        return;
      }
      case "load":
        void this.#load(message.module);
        return;
      case "validate":
        void this.#validate(message.n, message.module, message.input);
    }
  }

  done({ id }: Attempt, output: string): void {
    this.#live.delete(id);
    this.#channel.sendOutput(id, output);
  }

  failed({ id }: Attempt, thrown: unknown, final: boolean, reason: RunnerFailure): void {
    this.#live.delete(id);
    const exited = thrown instanceof ExitError;
    const error = this.describe(thrown);
    this.#channel.send({ t: "fail", id, error, final, reason: exited ? "exit" : reason });
    // The state that the code wanted to leave by exiting is still in this process.
    if (exited) this.#channel.send({ t: "drain" });
  }

  respond({ id }: Attempt, response: AttemptResponse): void {
    this.#channel.send({ t: "respond", id, response });
  }

  runChild({ id }: Attempt, call: ChildExecutionCall): void {
    this.#channel.send({ t: "runChild", id, ...call });
  }

  describe(thrown: unknown): SerializedError {
    return this.#describer.describe(thrown);
  }

  activeSpanId(attempt: Attempt): string | null {
    return this.#openTracing?.activeSpanId(attempt) ?? null;
  }

  logOf(attempt: Attempt): Log {
    return logFor(this, attempt);
  }

  write(attempt: Attempt | undefined, level: LogMessage["level"], line: string, fields?: string): void {
    const owner = attempt?.live ? attempt : undefined;
    if (owner !== undefined && ++owner.loggedLines > this.limits.logLines) {
      if (owner.loggedLines > this.limits.logLines + 1) return;
      level = "warn";
      line = `The log is truncated here: an execution may write ${this.limits.logLines} lines`;
      fields = undefined;
    }
    const text = cutLine(this.#describer.scrub(line), this.limits.logLineBytes);
    const extra = fields === undefined ? {} : { fields: this.#describer.scrub(fields) };
    this.#channel.log({ id: owner?.id ?? null, level, text, ...extra, atMs: Date.now() });
  }

  uncaught(error: unknown): void {
    if (error instanceof ExitError) return;
    const execution = current() ?? this.#sole();
    if (execution?.live) execution.uncaught(error);
    else this.write(undefined, "error", `Uncaught ${this.#show(error)}`);
    this.#channel.send({ t: "drain" });
  }

  unhandled(reason: unknown): void {
    if (reason instanceof ExitError) return;
    this.write(current() ?? this.#sole(), "error", `Unhandled rejection: ${this.#show(reason)}`);
  }

  #start(attempt: AttemptMessage): void {
    const execution = new RunningAttempt(this, attempt);
    this.#live.set(execution.id, execution);
    const start = () => runIn(execution, () => void execution.start());
    const { trace } = attempt;
    if (trace === null || this.#tracing === null) {
      start();
      return;
    }
    void this.#tracing.then((tracing) => {
      if (tracing === null) start();
      else tracing.run(execution, trace, start);
    });
  }

  /** Without the API the attempts run untraced. */
  async #startTracing(url: string): Promise<RunnerTracing | null> {
    try {
      const api = (await import(url)) as typeof import("@opentelemetry/api");
      this.#openTracing = new RunnerTracing(api, ({ id }, span) =>
        this.#channel.send({ t: "span", id, span }),
      );
      return this.#openTracing;
    } catch (error) {
      this.write(undefined, "warn", `Cannot trace: ${this.#show(error)}`);
      return null;
    }
  }

  async #load(module: string): Promise<void> {
    await this.#tracing;
    try {
      const schemas = schemasOf(await this.modules.load(module));
      this.#channel.send({ t: "loaded", module, error: null, file: null, line: null, schemas });
    } catch (thrown) {
      const { file = null, line = null } = this.#describer.place(thrown) ?? {};
      this.#channel.send({ t: "loaded", module, error: this.describe(thrown), file, line, schemas: null });
    }
  }

  /** An error of the schema is reported when an execution meets it. */
  async #validate(n: number, module: string, value: JsonObject): Promise<void> {
    let violations: Violation[] | null = null;
    try {
      const { input } = await this.modules.load(module);
      if (input !== undefined) violations = await violationsOf(input, value);
    } catch {
      // The execution fails with the same error.
    }
    const described = violations === null ? null : this.#describer.violations(violations);
    this.#channel.send({ t: "validated", n, violations: described });
  }

  /** The execution that is meant where the runtime does not say: the one that runs, if only one does. */
  #sole(): Attempt | undefined {
    return this.#live.size === 1 ? this.#live.values().next().value : undefined;
  }

  #show(thrown: unknown): string {
    const { stack, message } = this.describe(thrown);
    return stack || message;
  }
}
