/** One runner and the attempts in it, as the server sees them. */
import type { JsonObject } from "../../../project/json.ts";
import type { FromRunner } from "../runner/protocol.ts";
import { RunnerConnection } from "./connection.ts";
import type {
  Attempt,
  ChildExecutionResult,
  Outcome,
  PoolEvents,
  PoolLimits,
  Violation,
} from "./contract.ts";
import { isOutOfMemory } from "./crash-output.ts";
import { defaultJsonDepth } from "./json-check.ts";
import { RunnerMonitor } from "./monitor.ts";
import {
  crashed,
  describeExit,
  type Failure,
  lost,
  outOfMemory,
  timeoutMessage,
  violated,
} from "./outcomes.ts";
import { ProtocolError } from "./parse-value.ts";
import { type Message, Receiver } from "./receiver.ts";
import { type AbortReason, RunningAttempt } from "./running-attempt.ts";
import { RunningAttempts, toMessage } from "./running-attempts.ts";
import { type StartOptions, startProcess } from "./start-process.ts";

export interface RunnerEvents extends PoolEvents {
  /** The room for attempts changed. */
  changed(): void;
  /** The runner crashed, blocked its event loop, exceeded its memory or violated the protocol. */
  misbehaved(): void;
  /** The process has ended, and its attempts have their outcomes. */
  ended(reason: string): void;
}

export type Loaded = Extract<FromRunner, { t: "loaded" }>;
type ChildExecutionCall = Extract<FromRunner, { t: "runChild" }>;

/** A process that is not ready after this time never will be. It takes 0.1 s on an idle machine. */
const startMs = 30_000;

/**
 * States: *starting* until the process reports that it is ready; *open*, accepts attempts; *draining*, accepts none and
 * ends with its last attempt; *ending*, was killed; *ended*.
 */
export class RunnerProcess {
  readonly #limits: PoolLimits;
  readonly #events: RunnerEvents;
  readonly #receiver: Receiver;
  readonly #attempts: RunningAttempts = new RunningAttempts();
  readonly #loads = new Map<string, (loaded: Loaded) => void>();
  /** Inputs that the runner checks now, by their number. */
  readonly #validations = new Map<number, (violations: Violation[] | null) => void>();
  #validationCount = 0;
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  #connection: RunnerConnection | undefined;
  #monitor: RunnerMonitor | undefined;
  #state: "starting" | "open" | "draining" | "ending" | "ended" = "starting";
  /** Why the server killed it, and the outcome of its attempts. */
  #termination: { reason: string; outcome: Outcome } | undefined;
  #reserved = false;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(deploymentId: string, limits: PoolLimits, events: RunnerEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#receiver = new Receiver(limits, {
      countLine: (executionId) => this.#attempts.get(executionId).countLogLine(limits.logLines),
      onLog: (entries) => events.log(deploymentId, entries),
      onMessage: (message) => this.#onMessage(message),
      onOutput: (executionId, output) =>
        this.#settle(this.#attempts.get(executionId), { type: "succeeded", output }),
    });
    // A caller that does not wait for the start learns of its failure by `ended`.
    this.#ready.promise.catch(() => {});
  }

  /**
   * Resolves when the runner accepts attempts.
   *
   * @throws Error when the process ended before
   */
  async start(options: StartOptions): Promise<void> {
    try {
      this.#connection = new RunnerConnection(await startProcess(options), this.#limits, {
        onFrame: (frame) => {
          if (this.#monitor?.received()) this.#events.changed();
          this.#receiver.receiveFrame(frame);
        },
        onRawLine: (level, line) => this.#receiver.receiveRawLine(level, line),
        onViolation: (error) => this.#onViolation(error),
        onEnd: (code, signal) => this.#onEnd(code, signal),
      });
    } catch (error) {
      this.#state = "ended";
      throw error;
    }
    const { outputBytes, jsonDepth = defaultJsonDepth, logLineBytes, logLines } = this.#limits;
    const limits = { outputBytes, jsonDepth, logLineBytes, logLines };
    const { directory, tracing } = options;
    this.#connection.send({ t: "init", directory, limits, tracing });
    // `end` may have been called during the start.
    if (this.#state !== "starting") this.#connection.kill();
    const timer = setTimeout(() => this.end(`It was not ready within ${startMs / 1000} s`), startMs);
    await this.#ready.promise.finally(() => clearTimeout(timer));
  }

  /** The number of further attempts that it accepts now. */
  get room(): number {
    const accepts =
      this.#state === "open" && !this.#reserved && !this.#attempts.aborted && !this.unresponsive;
    return accepts ? Math.max(0, this.#limits.executionsPerRunner - this.#attempts.active) : 0;
  }

  /** Whether it is ready, and neither drains nor ends. */
  get open(): boolean {
    return this.#state === "open";
  }

  get activity(): "starting" | "busy" | "idle" | "ending" {
    if (this.#state === "starting") return "starting";
    if (this.#state !== "open") return "ending";
    return this.#attempts.size === 0 ? "idle" : "busy";
  }

  /** Whether it accepts attempts and has none. */
  get idle(): boolean {
    return this.#state === "open" && this.#attempts.size === 0;
  }

  /** Whether it is idle, has never had an attempt, and has checked no input. */
  get fresh(): boolean {
    return this.idle && this.#attempts.served === 0 && this.#validationCount === 0;
  }

  /** Whether it runs an attempt that must be alone. */
  get reserved(): boolean {
    return this.#reserved;
  }

  /** Whether its event loop does not answer. */
  get unresponsive(): boolean {
    return this.#monitor?.unresponsive === true;
  }

  /** Whether it should be replaced, because of the memory that it uses. */
  get needsReplacement(): boolean {
    return this.#state === "open" && this.#monitor?.needsReplacement === true;
  }

  /** Whether it accepts no more attempts. */
  get draining(): boolean {
    return this.#state === "draining" || this.#state === "ending";
  }

  get attemptCount(): number {
    return this.#attempts.size;
  }

  /** Loads a module without running it. Never resolves when the process ends before. */
  load(module: string): Promise<Loaded> {
    return new Promise((resolve) => {
      this.#loads.set(module, resolve);
      this.#connection?.send({ t: "load", module });
    });
  }

  /** Checks an input against the schema of a module. Null when it is valid, and when the process ends before. */
  validate(module: string, input: JsonObject): Promise<Violation[] | null> {
    if (this.#state !== "open" && this.#state !== "draining") return Promise.resolve(null);
    return new Promise((resolve) => {
      const n = ++this.#validationCount;
      // The monitor is not told, because its ping would cost as much again. It also checks idle runners, each second.
      this.#validations.set(n, resolve);
      this.#connection?.send({ t: "validate", n, module, input });
    });
  }

  run(attempt: Attempt, resolve: (outcome: Outcome) => void): void {
    clearTimeout(this.#idleTimer);
    const onTimeout = (): void => this.#abort(attempt.executionId, "timeout", timeoutMessage(attempt));
    this.#attempts.add(new RunningAttempt(attempt, resolve, onTimeout));
    if (attempt.alone) this.#reserved = true;
    if (this.#monitor !== undefined) this.#monitor.busy = true;
    this.#connection?.send({ t: "start", attempt: toMessage(attempt) });
  }

  cancel(executionId: string): void {
    this.#abort(executionId, "cancel", "The execution was cancelled");
  }

  /** Accepts no further attempt, and ends with the last one. */
  drain(): void {
    if (this.#state === "open") this.#state = "draining";
    if (this.#state === "draining" && this.#attempts.size === 0) this.end("It has no attempts");
  }

  /** Kills the process. Its attempts are lost, which does not count against them. */
  end(reason: string): void {
    this.#kill(reason, lost(reason));
  }

  #kill(reason: string, outcome: Outcome): void {
    if (this.#state === "ending" || this.#state === "ended") return;
    this.#state = "ending";
    this.#termination = { reason, outcome };
    if (outcome.type !== "lost" || outcome.suspect) this.#events.misbehaved();
    this.#connection?.kill();
    this.#events.changed();
  }

  /** The attempt is the cause if the process has run no other, and checked no input. Otherwise each attempt is a suspect. */
  #outcomeOf(cause: Failure): Outcome {
    const certain = this.#attempts.size === 1 && this.#attempts.served === 1 && this.#validationCount === 0;
    return certain ? cause : lost(cause.error.message, true);
  }

  #abort(executionId: string, reason: AbortReason, message: string): void {
    const running = this.#attempts.unaborted(executionId);
    if (running === undefined) return;
    this.#connection?.send({ t: "abort", id: executionId, reason, message });
    this.#attempts.abort(running, reason, message, this.#limits.killGraceMs, () => {
      this.end(`The runner was killed because ${executionId} in it did not stop after its ${reason}`);
    });
  }

  #onMessage(message: Message): void {
    switch (message.t) {
      case "ready":
        this.#onReady();
        return;
      case "pong":
        this.#monitor?.answered(message.n);
        return;
      case "drain":
        this.drain();
        return;
      case "fail": {
        const { id, error, final, reason } = message;
        this.#settle(this.#attempts.get(id), { type: "failed", error, final, reason });
        return;
      }
      case "respond":
        this.#attempts.get(message.id).countResponse();
        this.#events.respond(message.id, message.response);
        return;
      case "runChild":
        this.#onRunChild(message);
        return;
      case "span":
        this.#attempts.get(message.id).countSpan();
        this.#events.span?.(message.id, message.span);
        return;
      case "loaded": {
        const resolve = this.#loads.get(message.module);
        if (resolve === undefined) throw new ProtocolError("it loaded a module that was not requested");
        this.#loads.delete(message.module);
        resolve(message);
        return;
      }
      case "validated": {
        const resolve = this.#validations.get(message.n);
        if (resolve === undefined) throw new ProtocolError("it checked an input that was not sent");
        this.#validations.delete(message.n);
        resolve(message.violations);
      }
    }
  }

  #onReady(): void {
    if (this.#monitor !== undefined) throw new ProtocolError("it reported twice that it was ready");
    if (this.#state !== "starting") return;
    this.#state = "open";
    const { memoryBytes, blockedMs, idleMs } = this.#limits;
    this.#monitor = new RunnerMonitor(memoryBytes, blockedMs, {
      usedBytes: async () => (await this.#connection?.usedBytes()) ?? null,
      ping: (n) => this.#connection?.send({ t: "ping", n }),
      onMemory: () => this.#killFor(outOfMemory(memoryBytes)),
      onBlocked: () => this.#onBlocked(),
    });
    this.#idleTimer = setTimeout(() => this.drain(), idleMs);
    this.#ready.resolve();
  }

  #onRunChild(call: ChildExecutionCall): void {
    const running = this.#attempts.get(call.id);
    const signal = this.#attempts.startChild(running, call.index);
    this.#events.changed();
    void this.#runChild(running, call, signal);
  }

  async #runChild(running: RunningAttempt, call: ChildExecutionCall, signal: AbortSignal): Promise<void> {
    const { id, index, name, input, key, spanId } = call;
    let result: ChildExecutionResult;
    try {
      result = await this.#events.runChildExecution(id, { name, input, key, index, spanId }, signal);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
      result = { executionId: "", error: { name, message, stack: "" } };
    }
    if (!this.#attempts.has(running)) return;
    this.#attempts.endChild(running, index);
    this.#connection?.send({ t: "childEnded", id, index, ...result });
  }

  #settle(running: RunningAttempt, outcome: Outcome): void {
    this.#attempts.remove(running);
    running.settle(outcome);
    if (this.#attempts.size === 0) this.#onIdle();
    this.#events.changed();
  }

  #onIdle(): void {
    if (this.#monitor !== undefined) this.#monitor.busy = false;
    // A runner that ran a suspect must run nothing else: a later crash would prove nothing about its attempts.
    if (this.#reserved || this.#state === "draining") this.drain();
    else if (this.#state === "open") this.#idleTimer = setTimeout(() => this.drain(), this.#limits.idleMs);
  }

  #onBlocked(): void {
    const reason = `The runner's event loop was blocked for ${this.#limits.blockedMs / 1000} s`;
    // An attempt that has ended may have left the blocking code behind, unless this one is alone.
    const earlier = this.#monitor?.answeredSinceBusy === false && !this.#reserved;
    const shared = this.#attempts.size !== 1 || this.#validations.size > 0;
    // A single attempt blocks only itself, and runs until its timeout.
    if (shared || earlier) this.#kill(reason, lost(reason, true));
  }

  #onViolation(error: Error): void {
    const known = error instanceof ProtocolError || error instanceof RangeError;
    this.#killFor(violated(known ? error.message : "it sent an invalid message"));
  }

  #killFor(cause: Failure): void {
    this.#kill(cause.error.message, this.#outcomeOf(cause));
  }

  #onEnd(code: number | null, signal: string | null): void {
    if (this.#termination === undefined) this.#events.misbehaved();
    const exit = describeExit(code, signal);
    const { stderr } = this.#receiver;
    const cause = isOutOfMemory(stderr) ? outOfMemory(this.#limits.memoryBytes) : crashed(exit);
    const { reason, outcome } = this.#termination ?? {
      reason: cause.error.message,
      outcome: this.#outcomeOf(cause),
    };
    this.#state = "ended";
    for (const running of this.#attempts.list()) this.#settle(running, outcome);
    for (const resolve of this.#validations.values()) resolve(null);
    this.#validations.clear();
    clearTimeout(this.#idleTimer);
    this.#monitor?.stop();
    const output = stderr.trim().slice(-500);
    this.#ready.reject(new Error(`The process ended before it was ready (${exit}). ${output}`.trim()));
    this.#events.ended(reason);
  }
}
