/** One runner and the attempts in it. */
import type { FromRunner } from "../runner/protocol.ts";
import { type ProcessOptions, type RunnerConnection, startProcess } from "./connection.ts";
import type { Attempt, ChildExecutionResult, Outcome, PoolEvents, PoolLimits } from "./contract.ts";
import { isOutOfMemory } from "./crash-output.ts";
import { RunnerMonitor } from "./monitor.ts";
import { crashed, describeExit, type Failure, lost, outOfMemory, timeoutMessage } from "./outcomes.ts";
import { ProtocolError } from "./parse-message.ts";
import { defaultJsonDepth, type Message, Receiver } from "./receiver.ts";
import { type AbortReason, RunningAttempt } from "./running-attempt.ts";
import { RunningAttempts, toMessage } from "./running-attempts.ts";

export interface RunnerEvents extends PoolEvents {
  /** There may be room for further attempts, or less of it. */
  changed(): void;
  /** Its code holds a processor and its event loop; *gravely* for long, or has ended its process. Called again while so. */
  disturbs(gravely: boolean): void;
  /** It has ended, and its attempts have their outcomes. */
  ended(why: string): void;
}

export type Loaded = Extract<FromRunner, { t: "loaded" }>;
type RunMessage = Extract<FromRunner, { t: "runChild" }>;

/** Processor time without a turn of the event loop that is no large module's loading any more. */
const gravelyMs = 1_000;

/** A process that has not started after so long never will. It takes 0.1 s on an idle machine. */
const startMs = 30_000;

/**
 * States: *starting* until the process says that it is ready; *open*, takes attempts; *draining*, takes none and ends with
 * its last attempt; *ending*, was killed; *ended*.
 */
export class RunnerProcess {
  readonly #limits: PoolLimits;
  readonly #events: RunnerEvents;
  readonly #inbox: Receiver;
  readonly #attempts: RunningAttempts = new RunningAttempts();
  readonly #loads = new Map<string, (loaded: Loaded) => void>();
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  #connection: RunnerConnection | undefined;
  #watch: RunnerMonitor | undefined;
  #state: "starting" | "open" | "draining" | "ending" | "ended" = "starting";
  /** Why its server ended it, and what becomes of its attempts. */
  #termination: { why: string; outcome: Outcome } | undefined;
  #reserved = false;
  #isStuck = false;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(deploymentId: string, limits: PoolLimits, events: RunnerEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#inbox = new Receiver(limits, {
      countLine: (executionId) => this.#attempts.own(executionId).countLogLine(limits.logLines),
      onLog: (entries) => events.log(deploymentId, entries),
      onMessage: (message) => this.#onMessage(message),
      onOutput: (executionId, output, valid) => this.#onOutput(executionId, output, valid),
    });
    // Whoever does not wait for the start learns of its failure by `ended`.
    this.#ready.promise.catch(() => {});
  }

  /**
   * Resolves when it takes attempts.
   *
   * @throws Error when it ended before
   */
  async start(options: ProcessOptions): Promise<void> {
    try {
      this.#connection = await startProcess(options, {
        onFrame: (frame) => {
          if (this.#watch?.heard()) this.#events.changed();
          this.#inbox.takeFrame(frame);
        },
        onRawLine: (level, line) => this.#inbox.takeRawLine(level, line),
        onViolation: (error) => this.#onViolation(error),
        onEnd: (...exit) => this.#onEnd(...exit),
      });
    } catch (error) {
      this.#state = "ended";
      throw error;
    }
    const { outputBytes, jsonDepth = defaultJsonDepth, logLineBytes, logLines } = this.#limits;
    const limits = { outputBytes, jsonDepth, logLineBytes, logLines };
    this.#connection.send({ t: "init", directory: options.directory, limits });
    // It may have been ended while it started.
    if (this.#state !== "starting") this.#connection.kill();
    const timer = setTimeout(() => this.end(`It was not ready within ${startMs / 1000} s`), startMs);
    await this.#ready.promise.finally(() => clearTimeout(timer));
  }

  /** How many further attempts it takes now. */
  get room(): number {
    const takes =
      this.#state === "open" && !this.#reserved && !this.#attempts.aborted && !this.#watch?.sluggish;
    return takes ? Math.max(0, this.#limits.executionsPerRunner - this.#attempts.active) : 0;
  }

  /** It takes attempts and has none. */
  get idle(): boolean {
    return this.#state === "open" && this.#attempts.size === 0;
  }

  /** It is idle and has never had a attempt. */
  get fresh(): boolean {
    return this.idle && this.#attempts.served === 0;
  }

  /** It runs a attempt that must be alone. */
  get reserved(): boolean {
    return this.#reserved;
  }

  /** It is to be replaced, because of the memory it takes or because its priority cannot be raised again. */
  get needsReplacement(): boolean {
    return this.#state === "open" && (this.#watch?.needsReplacement === true || this.#isStuck);
  }

  /** Everybody else's work goes before its own. */
  yieldToOthers(gravely: boolean): void {
    this.#connection?.priority.lower(gravely);
  }

  /** It no longer yields, unless it runs a suspect. */
  stopYielding(): void {
    if (!this.#reserved) this.#isStuck = this.#connection?.priority.restore() === false;
  }

  /** It takes no attempt any more. */
  get draining(): boolean {
    return this.#state === "draining" || this.#state === "ending";
  }

  /** How many attempts it has. */
  get attemptCount(): number {
    return this.#attempts.size;
  }

  /** Has it load a module without running it. Never resolves when it ends before. */
  load(module: string): Promise<Loaded> {
    return new Promise((resolve) => {
      this.#loads.set(module, resolve);
      this.#connection?.send({ t: "load", module });
    });
  }

  take(attempt: Attempt, resolve: (outcome: Outcome | Promise<Outcome>) => void): void {
    clearTimeout(this.#idleTimer);
    const onTimeout = (): void => this.#abort(attempt.executionId, "timeout", timeoutMessage(attempt));
    this.#attempts.add(new RunningAttempt(attempt, resolve, onTimeout));
    if (attempt.alone) {
      this.#reserved = true;
      // It was suspected of holding up others.
      this.yieldToOthers(true);
    }
    if (this.#watch !== undefined) this.#watch.busy = true;
    this.#connection?.send({ t: "start", attempt: toMessage(attempt) });
  }

  cancel(executionId: string): void {
    this.#abort(executionId, "cancel", "The execution was cancelled");
  }

  /** Takes no further attempt, and ends with the last one. */
  drain(): void {
    if (this.#state === "open") this.#state = "draining";
    if (this.#state === "draining" && this.#attempts.size === 0) this.end("It has no attempt");
  }

  /** Ends it at once and hands its attempts back. */
  end(why: string): void {
    this.#kill(why, lost(why));
  }

  #kill(why: string, outcome: Outcome): void {
    if (this.#state === "ending" || this.#state === "ended") return;
    this.#state = "ending";
    this.#termination = { why, outcome };
    if (outcome.type !== "lost" || outcome.suspect) this.#events.disturbs(true);
    this.#connection?.kill();
    this.#events.changed();
  }

  /** A attempt that nothing ran beside or before is the cause; else each one may be. */
  #blame(cause: Failure): Outcome {
    const certain = this.#attempts.size === 1 && this.#attempts.served === 1;
    return certain ? cause : lost(cause.error.message, true);
  }

  /** Ends it because of something that one of its attempts has done. */
  #condemn(cause: Failure): void {
    this.#kill(cause.error.message, this.#blame(cause));
  }

  #abort(executionId: string, reason: AbortReason, message: string): void {
    const running = this.#attempts.going(executionId);
    if (running === undefined) return;
    this.#connection?.send({ t: "abort", id: executionId, reason, message });
    this.#attempts.abort(running, reason, message, this.#limits.killGraceMs, () => {
      this.end(`Its process was ended because ${executionId} in it did not stop after its ${reason}`);
    });
  }

  #onMessage(message: Message): void {
    switch (message.t) {
      case "ready":
        this.#onReady();
        return;
      case "pong":
        this.#watch?.answered(message.n);
        return;
      case "drain":
        this.drain();
        return;
      case "fail": {
        const { id, error, final, reason } = message;
        this.#settle(this.#attempts.own(id), { type: "failed", error, final, reason });
        return;
      }
      case "runChild":
        this.#onRun(message);
        return;
      case "loaded": {
        const resolve = this.#loads.get(message.module);
        if (resolve === undefined) throw new ProtocolError("it loaded what it was not asked to load");
        this.#loads.delete(message.module);
        resolve(message);
      }
    }
  }

  #onReady(): void {
    if (this.#watch !== undefined) throw new ProtocolError("it said twice that it was ready");
    if (this.#state !== "starting") return;
    this.#state = "open";
    const { memoryBytes, blockedMs, idleMs } = this.#limits;
    this.#watch = new RunnerMonitor(this.#connection?.pid ?? 0, memoryBytes, blockedMs, {
      ping: (n) => this.#connection?.send({ t: "ping", n }),
      onMemory: () => this.#condemn(outOfMemory(memoryBytes)),
      onBlocked: () => this.#onBlocked(),
      onHog: (usedMs) => this.#events.disturbs(usedMs >= gravelyMs),
    });
    this.#idleTimer = setTimeout(() => this.drain(), idleMs);
    this.#ready.resolve();
  }

  #onOutput(executionId: string, output: string, valid: true | Promise<boolean>): void {
    const outcome =
      valid === true ? ({ type: "succeeded", output } as const) : this.#whenValid(valid, output);
    this.#settle(this.#attempts.own(executionId), outcome);
  }

  async #whenValid(valid: Promise<boolean>, output: string): Promise<Outcome> {
    const invalid = new ProtocolError("it sent an output that is not JSON");
    // Who is to blame has to be asked before other attempts come and go.
    const blamed = this.#blame(crashed(invalid.message));
    if (await valid) return { type: "succeeded", output };
    this.#onViolation(invalid);
    return blamed;
  }

  #onRun(request: RunMessage): void {
    const running = this.#attempts.own(request.id);
    const signal = this.#attempts.startRun(running, request.index);
    this.#events.changed();
    void this.#answerRun(running, request, signal);
  }

  async #answerRun(running: RunningAttempt, request: RunMessage, signal: AbortSignal): Promise<void> {
    const { id, index, name, input, key } = request;
    let result: ChildExecutionResult;
    try {
      result = await this.#events.runChildExecution(id, { name, input, key, index }, signal);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
      result = { executionId: "", error: { name, message, stack: "" } };
    }
    if (!this.#attempts.has(running)) return;
    this.#attempts.endRun(running, index);
    const { executionId } = result;
    this.#connection?.send(
      "error" in result
        ? { t: "childEnded", id, index, executionId, error: result.error }
        : { t: "childEnded", id, index, executionId, output: result.output },
    );
  }

  #settle(running: RunningAttempt, outcome: Outcome | Promise<Outcome>): void {
    this.#attempts.remove(running);
    running.settle(outcome);
    if (this.#attempts.size === 0) this.#onIdle();
    this.#events.changed();
  }

  #onIdle(): void {
    if (this.#watch !== undefined) this.#watch.busy = false;
    // A runner that ran a suspect shows nothing about what runs in it later.
    if (this.#reserved || this.#state === "draining") this.drain();
    else if (this.#state === "open") this.#idleTimer = setTimeout(() => this.drain(), this.#limits.idleMs);
  }

  #onBlocked(): void {
    const why = `The event loop of its process stood still for ${this.#limits.blockedMs / 1000} s`;
    // What blocks it may have been left behind by attempts that have ended, unless none was before this one.
    const before = this.#watch?.answeredSinceBusy === false && !this.#reserved;
    // Else a single attempt blocks only itself, and has until its timeout.
    if (this.#attempts.size !== 1 || before) this.#kill(why, lost(why, true));
  }

  #onViolation(error: Error): void {
    const known = error instanceof ProtocolError || error instanceof RangeError;
    this.#condemn(crashed(known ? error.message : "it sent what cannot be understood"));
  }

  #onEnd(code: number | null, signal: string | null, noFault?: string): void {
    if (noFault !== undefined) this.#termination ??= { why: noFault, outcome: lost(noFault) };
    else if (this.#termination === undefined) this.#events.disturbs(true);
    const how = describeExit(code, signal);
    const { stderr } = this.#inbox;
    const cause = isOutOfMemory(stderr) ? outOfMemory(this.#limits.memoryBytes) : crashed(how);
    const { why, outcome } = this.#termination ?? { why: cause.error.message, outcome: this.#blame(cause) };
    this.#state = "ended";
    for (const running of this.#attempts.list()) this.#settle(running, outcome);
    clearTimeout(this.#idleTimer);
    this.#watch?.stop();
    const lastWords = stderr.trim().slice(-500);
    this.#ready.reject(new Error(`The process ended before it was ready (${how}). ${lastWords}`.trim()));
    this.#events.ended(why);
  }
}
