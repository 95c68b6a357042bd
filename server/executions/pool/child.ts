/** One child and the jobs in it. */
import type { JsonValue } from "../../../project/json.ts";
import { cutLine } from "../child/lines.ts";
import type { FromChild, LogMessage } from "../child/protocol.ts";
import type { ChildRunResult, Job, LogEntry, Outcome, PoolEvents, PoolLimits } from "./contract.ts";
import { residentBytes } from "./memory.ts";
import { type ProcessOptions, type RunningProcess, startProcess } from "./process.ts";
import { ProtocolError, parseMessage } from "./validate.ts";

export interface ChildEvents extends PoolEvents {
  /** A job has ended, or a slot became free because one waits, or the child takes jobs no more. */
  changed(): void;
  /** The child is gone and its jobs have their outcomes. */
  ended(): void;
}

interface Running {
  readonly job: Job;
  readonly resolve: (outcome: Outcome) => void;
  readonly runs: AbortController;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Calls of `ctx.run` that have not been answered. */
  pendingRuns: number;
  /** Why its signal was aborted; the outcome is decided by that, whatever the code still does. */
  aborted: "timeout" | "cancel" | null;
  logLines: number;
}

/** Why a child was ended by its server, and what that means for a job in it. */
type Ending = (running: Running) => Outcome;

/**
 * States: *starting* until the process says that it is ready; *ready*, takes jobs; *draining*, takes none and ends with
 * its last job; *ending*, was killed; *ended*.
 */
export class Child {
  readonly #deploymentId: string;
  readonly #limits: PoolLimits;
  readonly #events: ChildEvents;
  readonly #jobs = new Map<string, Running>();
  readonly #loads = new Map<string, (message: Extract<FromChild, { t: "loaded" }>) => void>();
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  #process: RunningProcess | undefined;
  #state: "starting" | "ready" | "draining" | "ending" | "ended" = "starting";
  #ending: Ending | undefined;
  #served = 0;
  #waiting = 0;
  #reserved = false;
  #rawLines = 0;
  #stderr = "";
  #baselineBytes = 0;
  #watch: ReturnType<typeof setInterval> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #pingedAt: number | null = null;
  #blocked = false;

  constructor(deploymentId: string, limits: PoolLimits, events: ChildEvents) {
    this.#deploymentId = deploymentId;
    this.#limits = limits;
    this.#events = events;
  }

  /** Resolves when it takes jobs; rejects when it ended before. */
  async start(options: ProcessOptions): Promise<void> {
    this.#process = await startProcess(options, {
      onMessages: (messages) => this.#onMessages(messages),
      onRawLine: (stream, line) => this.#onRawLine(stream, line),
      onViolation: (reason) => this.#end(blame("crash", "ProtocolError", `The process was ended: ${reason}`)),
      onEnd: (code, signal) => this.#onEnd(code, signal),
    });
    const { outputBytes, logLineBytes, logLines } = this.#limits;
    this.#process.send({
      t: "init",
      directory: options.directory,
      limits: { outputBytes, logLineBytes, logLines },
    });
    return this.#ready.promise;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** How many more jobs it takes. */
  get room(): number {
    if (this.#state !== "ready" || this.#blocked || this.#reserved) return 0;
    return Math.max(0, this.#limits.executionsPerChild - this.active);
  }

  /** Jobs that hold a slot. */
  get active(): number {
    return this.#jobs.size - this.#waiting;
  }

  /** Nothing has run in it and nothing does. */
  get fresh(): boolean {
    return this.#state === "ready" && this.#served === 0;
  }

  get idle(): boolean {
    return this.#state === "ready" && this.#jobs.size === 0;
  }

  /** Loads a module in it without running it. */
  load(module: string): Promise<Extract<FromChild, { t: "loaded" }>> {
    return new Promise((resolve) => {
      this.#loads.set(module, resolve);
      this.#process?.send({ t: "load", module });
    });
  }

  take(job: Job, resolve: (outcome: Outcome) => void): void {
    clearTimeout(this.#idle);
    const running: Running = {
      job,
      resolve,
      runs: new AbortController(),
      timer: setTimeout(() => this.#abort(running, "timeout"), job.timeoutMs),
      pendingRuns: 0,
      aborted: null,
      logLines: 0,
    };
    this.#jobs.set(job.executionId, running);
    this.#served += 1;
    if (job.alone) this.#reserved = true;
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
    this.#process?.send({
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
    this.#startWatch();
  }

  cancel(executionId: string): void {
    const running = this.#jobs.get(executionId);
    if (running !== undefined) this.#abort(running, "cancel");
  }

  /** Takes no further job, and ends with the last one. */
  drain(): void {
    if (this.#state === "ready") this.#state = "draining";
    this.#endWhenDrained();
  }

  /** Ends it at once and hands its jobs back. */
  handBack(reason: string): void {
    this.#end((running) => abandonedOutcome(running) ?? { type: "lost", reason, suspect: false });
  }

  #abort(running: Running, reason: "timeout" | "cancel"): void {
    if (running.aborted !== null) return;
    running.aborted = reason;
    clearTimeout(running.timer);
    const message = reason === "timeout" ? timeoutMessage(running.job) : "The execution was cancelled";
    this.#process?.send({ t: "abort", id: running.job.executionId, reason, message });
    running.runs.abort(new Error(message));
    running.timer = setTimeout(() => {
      const { executionId } = running.job;
      this.#end(
        (other) =>
          abandonedOutcome(other) ?? {
            type: "lost",
            reason: `Its process was ended because ${executionId} in it did not stop after a ${reason}`,
            suspect: false,
          },
      );
    }, this.#limits.killGraceMs);
  }

  #end(ending: Ending): void {
    if (this.#state === "ending" || this.#state === "ended") return;
    this.#state = "ending";
    this.#ending = ending;
    this.#process?.kill();
    this.#events.changed();
  }

  #onMessages(messages: JsonValue[]): void {
    this.#pingedAt = null;
    this.#blocked = false;
    const entries: LogEntry[] = [];
    for (const value of messages) {
      // What was sent before the end still counts; nothing of a child that broke the protocol does.
      const message = parseMessage(value);
      if (message.t === "log") this.#collect(message.entries, entries);
      else {
        if (entries.length > 0) this.#events.log(this.#deploymentId, entries.splice(0));
        this.#onMessage(message);
      }
    }
    if (entries.length > 0) this.#events.log(this.#deploymentId, entries);
  }

  #onMessage(message: Exclude<FromChild, { t: "log" }>): void {
    switch (message.t) {
      case "ready":
        if (this.#state !== "starting") throw new ProtocolError("it said twice that it is ready");
        this.#state = "ready";
        this.#baselineBytes = residentBytes(this.pid) ?? 0;
        this.#ready.resolve();
        return;
      case "pong":
        return;
      case "spoiled":
        this.drain();
        return;
      case "done":
        this.#settle(this.#own(message.id), {
          type: "succeeded",
          output: this.#checkOutput(message.output),
        });
        return;
      case "fail": {
        const { error, final, reason } = message;
        this.#settle(this.#own(message.id), { type: "failed", error, final, reason });
        return;
      }
      case "run":
        void this.#run(this.#own(message.id), message);
        return;
      case "loaded": {
        const resolve = this.#loads.get(message.module);
        if (resolve === undefined) throw new ProtocolError("it loaded what it was not asked to load");
        this.#loads.delete(message.module);
        resolve(message);
        return;
      }
    }
  }

  /** @throws ProtocolError when the job is not one of this child's */
  #own(executionId: string): Running {
    const running = this.#jobs.get(executionId);
    if (running === undefined) throw new ProtocolError("it spoke for an execution that it does not run");
    return running;
  }

  #checkOutput(output: string): string {
    if (Buffer.byteLength(output) > this.#limits.outputBytes)
      throw new ProtocolError("it sent an output over the limit");
    try {
      JSON.parse(output);
    } catch {
      throw new ProtocolError("it sent an output that is not JSON");
    }
    return output;
  }

  async #run(running: Running, request: Extract<FromChild, { t: "run" }>): Promise<void> {
    const { id, index, name, input, key } = request;
    if (running.pendingRuns++ === 0) this.#waiting += 1;
    this.#events.changed();
    let result: ChildRunResult;
    try {
      result = await this.#events.run(id, { name, input, key, index }, running.runs.signal);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
      result = { executionId: "", error: { name, message, stack: "" } };
    }
    if (this.#jobs.get(id) !== running) return;
    if (--running.pendingRuns === 0) this.#waiting -= 1;
    const { executionId } = result;
    this.#process?.send(
      "error" in result
        ? { t: "ran", id, index, executionId, error: result.error }
        : { t: "ran", id, index, executionId, output: result.output },
    );
  }

  #settle(running: Running, outcome: Outcome): void {
    const { executionId } = running.job;
    clearTimeout(running.timer);
    this.#jobs.delete(executionId);
    if (running.pendingRuns > 0) this.#waiting -= 1;
    running.runs.abort(new Error("The execution has ended"));
    running.resolve(abandonedOutcome(running) ?? outcome);
    if (running.job.alone && this.#state === "ready") this.#state = "draining";
    if (this.#jobs.size === 0) this.#stopWatch();
    this.#endWhenDrained();
    if (this.idle) this.#idle = setTimeout(() => this.drain(), this.#limits.idleMs);
    this.#events.changed();
  }

  #endWhenDrained(): void {
    if (this.#state === "draining" && this.#jobs.size === 0)
      this.#end(() => ({ type: "lost", reason: "", suspect: false }));
  }

  #onEnd(code: number | null, signal: string | null): void {
    const ending = this.#ending ?? this.#explain(code, signal);
    this.#state = "ended";
    this.#stopWatch();
    clearTimeout(this.#idle);
    const before = [...this.#jobs.values()];
    const lone = before.length === 1 && this.#served === 1;
    for (const running of before) {
      const outcome = abandonedOutcome(running) ?? ending(running);
      this.#settle(running, outcome.type === "failed" && !lone ? suspect(outcome.error.message) : outcome);
    }
    this.#ready.reject(
      new Error(`The process ended before it was ready (${describeExit(code, signal)})${this.#stderrNote()}`),
    );
    this.#ready.promise.catch(() => {});
    for (const resolve of this.#loads.values()) void resolve;
    this.#events.ended();
  }

  #stderrNote(): string {
    return this.#stderr === "" ? "" : `: ${this.#stderr.slice(-500)}`;
  }

  #explain(code: number | null, signal: string | null): Ending {
    if (/heap out of memory|out of memory: |Reached heap limit/i.test(this.#stderr))
      return outOfMemory(this.#limits);
    return blame("crash", "CrashError", `The process that ran it ended (${describeExit(code, signal)})`);
  }

  #collect(messages: LogMessage[], entries: LogEntry[]): void {
    for (const { id, level, text, atMs } of messages) {
      if (id !== null) {
        const running = this.#own(id);
        // One more for the note with which the child cuts its own log.
        if (++running.logLines > this.#limits.logLines + 1)
          throw new ProtocolError("it sent log lines over the limit");
      }
      entries.push({ executionId: id, level, message: cutLine(text, this.#limits.logLineBytes), atMs });
    }
  }

  #onRawLine(stream: "stdout" | "stderr", line: string): void {
    if (stream === "stderr") this.#stderr = `${this.#stderr}${line}\n`.slice(-4096);
    if (++this.#rawLines > this.#limits.logLines) return;
    this.#events.log(this.#deploymentId, [
      {
        executionId: null,
        level: stream === "stdout" ? "info" : "warn",
        message: cutLine(line, this.#limits.logLineBytes),
        atMs: Date.now(),
      },
    ]);
  }

  #startWatch(): void {
    if (this.#watch !== undefined) return;
    this.#pingedAt = null;
    const everyMs = Math.max(10, Math.min(250, this.#limits.blockedMs / 4));
    this.#watch = setInterval(() => this.#look(), everyMs);
  }

  #stopWatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #look(): void {
    const bytes = residentBytes(this.pid);
    if (bytes !== null && bytes > this.#baselineBytes + this.#limits.memoryBytes + runtimeSlackBytes) {
      this.#end(outOfMemory(this.#limits));
      return;
    }
    const now = performance.now();
    if (this.#pingedAt === null) {
      this.#pingedAt = now;
      this.#process?.send({ t: "ping" });
    } else if (now - this.#pingedAt > this.#limits.blockedMs) {
      // This process may have stood still itself: what the child answered meanwhile is read first.
      setImmediate(() => setImmediate(() => this.#judgeBlocked()));
    }
  }

  #judgeBlocked(): void {
    if (this.#pingedAt === null) return;
    this.#blocked = true;
    if (this.#jobs.size < 2) {
      this.#events.changed();
      return;
    }
    const reason = `The event loop of its process stood still for ${this.#limits.blockedMs} ms`;
    this.#end((running) => abandonedOutcome(running) ?? { type: "lost", reason, suspect: true });
  }
}

/** What V8 and the runtime take beside the heap while they work. */
const runtimeSlackBytes = 64 * 2 ** 20;

function timeoutMessage(job: Job): string {
  return `The execution did not end within ${job.timeoutMs} ms`;
}

/** The outcome of a job whose signal was aborted; null for the others. */
function abandonedOutcome(running: Running): Outcome | null {
  if (running.aborted === null) return null;
  if (running.aborted === "cancel") return { type: "cancelled" };
  const message = timeoutMessage(running.job);
  return {
    type: "failed",
    error: { name: "TimeoutError", message, stack: `TimeoutError: ${message}` },
    final: false,
    reason: "timeout",
  };
}

function blame(reason: "crash" | "memory", name: string, message: string): Ending {
  return () => ({
    type: "failed",
    error: { name, message, stack: `${name}: ${message}` },
    final: false,
    reason,
  });
}

function outOfMemory(limits: PoolLimits): Ending {
  const mebibytes = Math.round(limits.memoryBytes / 2 ** 20);
  return blame(
    "memory",
    "MemoryError",
    `The process that ran it went over its memory limit of ${mebibytes} MiB`,
  );
}

function suspect(reason: string): Outcome {
  return { type: "lost", reason, suspect: true };
}

function describeExit(code: number | null, signal: string | null): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
