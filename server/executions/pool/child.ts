/** One child and the jobs in it. */
import type { JsonValue } from "../../../project/json.ts";
import { decodeOutput, type Frame, frameKinds } from "../child/frames.ts";
import type { FromChild } from "../child/protocol.ts";
import type { ChildRunResult, Job, LogEntry, Outcome, PoolEvents, PoolLimits } from "./contract.ts";
import { isDeathRattle, isOutOfMemory } from "./death.ts";
import { isJson } from "./json-check.ts";
import { LogGate } from "./log-gate.ts";
import { crashed, describeExit, type Failure, lost, outOfMemory, timeoutMessage } from "./outcomes.ts";
import { type ChildConnection, type ProcessOptions, startProcess } from "./process.ts";
import { type AbortReason, RunningJob } from "./running.ts";
import { ProtocolError, parseFrame, parseMessage } from "./validate.ts";
import { ChildWatch } from "./watch.ts";

export interface ChildEvents extends PoolEvents {
  /** There may be room for further jobs, or less of it. */
  changed(): void;
  /** It has ended, and its jobs have their outcomes. */
  ended(why: string): void;
}

export type Loaded = Extract<FromChild, { t: "loaded" }>;
type RunMessage = Extract<FromChild, { t: "run" }>;

const defaultJsonDepth = 64;

/** The end of its standard error that is kept to explain a death. */
const keptStderrLength = 4096;

/**
 * States: *starting* until the process says that it is ready; *open*, takes jobs; *draining*, takes none and ends with
 * its last job; *ending*, was killed; *ended*.
 */
export class Child {
  readonly #deploymentId: string;
  readonly #limits: PoolLimits;
  readonly #events: ChildEvents;
  readonly #log: LogGate;
  readonly #jobs = new Map<string, RunningJob>();
  readonly #loads = new Map<string, (loaded: Loaded) => void>();
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  #connection: ChildConnection | undefined;
  #watch: ChildWatch | undefined;
  #state: "starting" | "open" | "draining" | "ending" | "ended" = "starting";
  /** What a job's outcome is because its server ended the child. */
  #verdict: ((running: RunningJob) => Outcome) | undefined;
  #why: string | undefined;
  #served = 0;
  #waiting = 0;
  #aborted = 0;
  #reserved = false;
  #dying = false;
  #stderr = "";
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(deploymentId: string, limits: PoolLimits, events: ChildEvents) {
    this.#deploymentId = deploymentId;
    this.#limits = limits;
    this.#events = events;
    this.#log = new LogGate({
      lineBytes: limits.logLineBytes,
      lines: limits.logLines,
      count: (executionId) => this.#own(executionId).countLogLine(limits.logLines),
    });
    // Whoever does not wait for the start learns of its failure by `ended`.
    this.#ready.promise.catch(() => {});
  }

  /**
   * Resolves when it takes jobs.
   *
   * @throws Error when it ended before
   */
  async start(options: ProcessOptions): Promise<void> {
    try {
      this.#connection = await startProcess(options, {
        onFrame: (frame) => this.#onFrame(frame),
        onRawLine: (level, line) => this.#onRawLine(level, line),
        onViolation: (error) => this.#onViolation(error),
        onEnd: (code, signal) => this.#onEnd(code, signal),
      });
    } catch (error) {
      this.#state = "ended";
      throw error;
    }
    const { outputBytes, logLineBytes, logLines } = this.#limits;
    const limits = { outputBytes, jsonDepth: this.#jsonDepth, logLineBytes, logLines };
    this.#connection.send({ t: "init", directory: options.directory, limits });
    // It may have been ended while it started.
    if (this.#state !== "starting") this.#connection.kill();
    return this.#ready.promise;
  }

  /** How many further jobs it takes now. */
  get room(): number {
    const takes = this.#state === "open" && !this.#reserved && this.#aborted === 0 && !this.#watch?.sluggish;
    return takes ? Math.max(0, this.#limits.executionsPerChild - this.#active) : 0;
  }

  /** It takes jobs and has none. */
  get idle(): boolean {
    return this.#state === "open" && this.#jobs.size === 0;
  }

  /** It is idle and has never had a job. */
  get fresh(): boolean {
    return this.idle && this.#served === 0;
  }

  /** It runs a job that must be alone. */
  get reserved(): boolean {
    return this.#reserved;
  }

  /** It is to be replaced because of the memory it takes. */
  get worn(): boolean {
    return this.#state === "open" && this.#watch?.worn === true;
  }

  get #jsonDepth(): number {
    return this.#limits.jsonDepth ?? defaultJsonDepth;
  }

  /** Jobs that hold a slot. */
  get #active(): number {
    return this.#jobs.size - this.#waiting;
  }

  /** Has it load a module without running it. Never resolves when it ends before. */
  load(module: string): Promise<Loaded> {
    return new Promise((resolve) => {
      this.#loads.set(module, resolve);
      this.#connection?.send({ t: "load", module });
    });
  }

  take(job: Job, resolve: (outcome: Outcome | Promise<Outcome>) => void): void {
    clearTimeout(this.#idleTimer);
    this.#served += 1;
    this.#jobs.set(
      job.executionId,
      new RunningJob(job, resolve, () => this.#abort(job.executionId, "timeout", timeoutMessage(job))),
    );
    if (job.alone) {
      this.#reserved = true;
      // It was suspected of holding up others.
      this.#connection?.lowerPriority();
    }
    if (this.#watch !== undefined) this.#watch.busy = true;
    const {
      executionId,
      organizationId,
      deploymentId,
      environment,
      module,
      input,
      attempt,
      trigger,
      secrets,
    } = job;
    this.#connection?.send({
      t: "job",
      job: {
        executionId,
        organizationId,
        deploymentId,
        environment,
        module,
        input,
        attempt,
        trigger,
        secrets,
      },
    });
  }

  cancel(executionId: string): void {
    this.#abort(executionId, "cancel", "The execution was cancelled");
  }

  /** Takes no further job, and ends with the last one. */
  drain(): void {
    if (this.#state === "open") this.#state = "draining";
    if (this.#state === "draining" && this.#jobs.size === 0) this.end("It has no job");
  }

  /** Ends it at once and hands its jobs back. */
  end(reason: string): void {
    this.#kill(reason, () => lost(reason));
  }

  #kill(why: string, verdict: (running: RunningJob) => Outcome): void {
    if (this.#state === "ending" || this.#state === "ended") return;
    this.#state = "ending";
    this.#why = why;
    this.#verdict = verdict;
    this.#connection?.kill();
    this.#events.changed();
  }

  /** Ends it because of something that one of its jobs, nobody knows which, has done. */
  #condemn(cause: Failure): void {
    this.#kill(cause.error.message, this.#blame(cause));
  }

  /** A job that nothing ran beside or before is the cause; else each one may be. */
  #blame(cause: Failure): () => Outcome {
    const certain = this.#jobs.size === 1 && this.#served === 1;
    return () => (certain ? cause : lost(cause.error.message, true));
  }

  #abort(executionId: string, reason: AbortReason, message: string): void {
    const running = this.#jobs.get(executionId);
    if (running === undefined || running.aborted) return;
    this.#aborted += 1;
    this.#connection?.send({ t: "abort", id: executionId, reason, message });
    running.abort(reason, message, this.#limits.killGraceMs, () => {
      this.end(`Its process was ended because ${executionId} in it did not stop after its ${reason}`);
    });
  }

  #onFrame({ kind, body }: Frame): void {
    if (this.#watch?.heard()) this.#events.changed();
    if (kind === frameKinds.messages) this.#onMessages(parseFrame(body));
    else if (kind === frameKinds.output) this.#onOutput(body);
    else throw new ProtocolError("it sent a frame of no known kind");
  }

  #onMessages(messages: JsonValue[]): void {
    const entries: LogEntry[] = [];
    const flush = (): void => {
      if (entries.length > 0) this.#events.log(this.#deploymentId, entries.splice(0));
    };
    try {
      for (const value of messages) {
        const message = parseMessage(value);
        if (message.t === "log") this.#log.take(message.entries, entries);
        else {
          flush();
          this.#onMessage(message);
        }
      }
    } finally {
      flush();
    }
  }

  #onMessage(message: Exclude<FromChild, { t: "log" }>): void {
    switch (message.t) {
      case "ready":
        this.#onReady();
        return;
      case "pong":
        return;
      case "spoiled":
        this.drain();
        return;
      case "done":
        this.#succeed(message.id, message.output);
        return;
      case "fail": {
        const { id, error, final, reason } = message;
        this.#settle(this.#own(id), { type: "failed", error, final, reason });
        return;
      }
      case "run":
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
    this.#watch = new ChildWatch(this.#connection?.pid ?? 0, memoryBytes, blockedMs, {
      ping: () => this.#connection?.send({ t: "ping" }),
      onMemory: () => this.#condemn(outOfMemory(memoryBytes)),
      onBlocked: () => this.#onBlocked(),
    });
    this.#idleTimer = setTimeout(() => this.drain(), idleMs);
    this.#ready.resolve();
  }

  /** @throws ProtocolError when the job is not one of this child's */
  #own(executionId: string): RunningJob {
    const running = this.#jobs.get(executionId);
    if (running === undefined) throw new ProtocolError("it spoke for an execution that it does not run");
    return running;
  }

  #onOutput(body: Buffer): void {
    const decoded = decodeOutput(body);
    if (decoded === null) throw new ProtocolError("it sent an output that is cut short");
    this.#succeed(decoded.executionId, decoded.output);
  }

  #succeed(executionId: string, output: string): void {
    const running = this.#own(executionId);
    if (Buffer.byteLength(output) > this.#limits.outputBytes) {
      throw new ProtocolError("it sent an output over the limit");
    }
    const valid = isJson(output, this.#jsonDepth);
    if (valid === true) this.#settle(running, { type: "succeeded", output });
    else if (valid === false) throw new ProtocolError("it sent an output that is not JSON");
    else this.#settle(running, this.#whenValid(valid, output));
  }

  async #whenValid(valid: Promise<boolean>, output: string): Promise<Outcome> {
    // Whether it was alone has to be asked before others come.
    const blame = this.#blame(crashed("it sent an output that is not JSON"));
    if (await valid) return { type: "succeeded", output };
    this.#onViolation(new ProtocolError("it sent an output that is not JSON"));
    return blame();
  }

  #onRun(request: RunMessage): void {
    const running = this.#own(request.id);
    const waited = running.waiting;
    const signal = running.startRun(request.index);
    if (!waited) this.#waiting += 1;
    this.#events.changed();
    void this.#answerRun(running, request, signal);
  }

  async #answerRun(running: RunningJob, request: RunMessage, signal: AbortSignal): Promise<void> {
    const { id, index, name, input, key } = request;
    let result: ChildRunResult;
    try {
      result = await this.#events.run(id, { name, input, key, index }, signal);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
      result = { executionId: "", error: { name, message, stack: "" } };
    }
    if (this.#jobs.get(id) !== running) return;
    running.endRun(index);
    if (!running.waiting) this.#waiting -= 1;
    const { executionId } = result;
    this.#connection?.send(
      "error" in result
        ? { t: "ran", id, index, executionId, error: result.error }
        : { t: "ran", id, index, executionId, output: result.output },
    );
  }

  #settle(running: RunningJob, outcome: Outcome | Promise<Outcome>): void {
    this.#jobs.delete(running.job.executionId);
    if (running.waiting) this.#waiting -= 1;
    if (running.aborted) this.#aborted -= 1;
    running.settle(outcome);
    if (this.#jobs.size === 0) this.#onIdle();
    this.#events.changed();
  }

  #onIdle(): void {
    if (this.#watch !== undefined) this.#watch.busy = false;
    // A child that ran a suspect shows nothing about what runs in it later.
    if (this.#reserved || this.#state === "draining") this.drain();
    else if (this.#state === "open") this.#idleTimer = setTimeout(() => this.drain(), this.#limits.idleMs);
  }

  #onBlocked(): void {
    const why = `The event loop of its process stood still for ${this.#limits.blockedMs / 1000} s`;
    const before = this.#watch?.heardSinceBusy === false;
    // What blocks it was left behind by jobs that have ended.
    if (this.#jobs.size === 0 || before) this.end(why);
    // With one job, it is that job's own time.
    else if (this.#jobs.size > 1) this.#kill(why, () => lost(why, true));
  }

  #onViolation(error: Error): void {
    const reason = error instanceof ProtocolError ? error.message : "it sent a frame that is too large";
    this.#condemn(crashed(reason));
  }

  #onEnd(code: number | null, signal: string | null): void {
    const how = describeExit(code, signal);
    const cause = isOutOfMemory(this.#stderr) ? outOfMemory(this.#limits.memoryBytes) : crashed(how);
    const verdict = this.#verdict ?? this.#blame(cause);
    this.#state = "ended";
    for (const running of [...this.#jobs.values()]) this.#settle(running, verdict(running));
    clearTimeout(this.#idleTimer);
    this.#watch?.stop();
    const lastWords = this.#stderr.trim().slice(-500);
    this.#ready.reject(new Error(`The process ended before it was ready (${how}). ${lastWords}`.trim()));
    this.#events.ended(this.#why ?? cause.error.message);
  }

  #onRawLine(level: "info" | "warn", line: string): void {
    if (line.trim() === "") return;
    if (level === "warn") {
      this.#stderr = `${this.#stderr}${line}\n`.slice(-keptStderrLength);
      // What a runtime prints when it dies is about the runtime, and names the server's paths.
      this.#dying ||= isDeathRattle(line);
      if (this.#dying) return;
    }
    const entries: LogEntry[] = [];
    this.#log.stray(level, line, Date.now(), entries);
    if (entries.length > 0) this.#events.log(this.#deploymentId, entries);
  }
}
