/** The runners of one deployment, and the attempts that wait for them. */
import type { JsonObject } from "../../../project/json.ts";
import { log } from "../../telemetry/log/index.ts";
import { metrics } from "../../telemetry/metrics/index.ts";
import type { Attempt, Outcome, PoolOptions, RunnerCounts, Violation } from "./contract.ts";
import { launch } from "./launch.ts";
import { PackageError } from "./modules.ts";
import { failure, lost } from "./outcomes.ts";
import { RunnerProcess } from "./runner-process.ts";
import { StartLimiter } from "./start-limiter.ts";

/** The maximum time for the check of an input before its execution. A cold runner starts in a fraction of it. */
const validationMs = 5_000;

interface WaitingAttempt {
  attempt: Attempt;
  resolve: (outcome: Outcome) => void;
}

/** An input that waits for a runner. */
interface WaitingCheck {
  module: string;
  input: JsonObject;
  resolve: (violations: Violation[] | null) => void;
}

/** After this number of failed starts in a row, the waiting attempts are handed back. */
const maxFailedStarts = 3;

/** How long a deployment is limited to fewer runners after one of them has misbehaved. */
const limitedMs = 10_000;

/** The limit of that time: one runner for an attempt that must run alone, and one for the rest. */
const limitedRunners = 2;

/**
 * States: *open*, or *retired*: its runners end when they have no attempts. While *limited*, it starts fewer runners,
 * because one of them blocks its event loop now, or has crashed or exceeded its memory a moment ago.
 */
export class DeploymentPool {
  readonly #deploymentId: string;
  readonly #options: PoolOptions;
  readonly #onEmpty: () => void;
  readonly #runners = new Set<RunnerProcess>();
  /** The runner of each attempt, by execution; null while it waits. */
  readonly #owners = new Map<string, RunnerProcess | null>();
  readonly #startLimiter = new StartLimiter();
  #queue: WaitingAttempt[] = [];
  #checks: WaitingCheck[] = [];
  #starting = 0;
  #failedStarts = 0;
  #startTimer: ReturnType<typeof setTimeout> | undefined;
  #limitTimer: ReturnType<typeof setTimeout> | undefined;
  #retired = false;
  #pumping = false;
  #pumpScheduled = false;

  /** @param onEmpty - called each time that the pool has neither an attempt nor a runner left */
  constructor(deploymentId: string, options: PoolOptions, onEmpty: () => void) {
    this.#deploymentId = deploymentId;
    this.#options = options;
    this.#onEmpty = onEmpty;
  }

  get free(): number {
    if (this.#retired) return 0;
    const { executionsPerRunner } = this.#options.limits;
    let room = Math.max(0, this.#maxRunners - this.#runners.size + this.#starting) * executionsPerRunner;
    for (const runner of this.#runners) room += runner.room;
    return Math.max(0, room - this.#queue.length);
  }

  get #maxRunners(): number {
    const { runnersPerDeployment } = this.#options.limits;
    return this.#limited ? Math.min(runnersPerDeployment, limitedRunners) : runnersPerDeployment;
  }

  get #limited(): boolean {
    if (this.#limitTimer !== undefined) return true;
    for (const runner of this.#runners) if (runner.unresponsive) return true;
    return false;
  }

  /** Whether it has neither an attempt nor a runner. */
  get empty(): boolean {
    return this.#runners.size === 0 && this.#queue.length === 0;
  }

  /** Adds its runners and waiting attempts. */
  count(counts: RunnerCounts): void {
    for (const runner of this.#runners) counts[runner.activity] += 1;
    counts.waitingAttempts += this.#queue.length;
  }

  /** Whether an attempt of the execution runs or waits here. */
  has(executionId: string): boolean {
    return this.#owners.has(executionId);
  }

  run(attempt: Attempt): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#owners.set(attempt.executionId, null);
      this.#queue.push({ attempt, resolve });
      this.#pumpSoon();
    });
  }

  /**
   * Checks an input against the schema of a module, in a runner that answers.
   *
   * @returns null when the input is valid, and when no runner answers in time
   */
  validate(module: string, input: JsonObject): Promise<Violation[] | null> {
    return new Promise((resolve) => {
      const check: WaitingCheck = {
        module,
        input,
        resolve(violations) {
          clearTimeout(timer);
          resolve(violations);
        },
      };
      const timer = setTimeout(() => {
        this.#checks = this.#checks.filter((other) => other !== check);
        resolve(null);
      }, validationMs);
      this.#checks.push(check);
      this.#pump();
    });
  }

  /** A runner that may check inputs: not one whose end would be assigned to a suspect. */
  get #validator(): RunnerProcess | undefined {
    for (const runner of this.#runners) {
      if (runner.open && !runner.reserved && !runner.unresponsive) return runner;
    }
    return undefined;
  }

  /** False when the execution is not here. */
  cancel(executionId: string): boolean {
    const runner = this.#owners.get(executionId);
    if (runner === undefined) return false;
    if (runner !== null) runner.cancel(executionId);
    else {
      const index = this.#queue.findIndex(({ attempt }) => attempt.executionId === executionId);
      for (const waiting of this.#queue.splice(index, 1)) this.#settle(waiting, { type: "cancelled" });
      this.#pump();
    }
    return true;
  }

  /** @throws Error when no runner can be started */
  async warm(): Promise<void> {
    this.#retired = false;
    if (this.#runners.size > 0) return;
    await this.#start({ preload: true });
  }

  retire(): void {
    this.#retired = true;
    this.#pump();
  }

  /** Ends the waiting attempts with an outcome. */
  settleQueue(outcome: Outcome): void {
    for (const waiting of this.#queue.splice(0)) this.#settle(waiting, outcome);
    for (const { resolve } of this.#checks.splice(0)) resolve(null);
    this.#pump();
  }

  /** Kills every runner and hands back all attempts. */
  handBackAll(reason: string): void {
    this.#retired = true;
    for (const runner of this.#runners) runner.end(reason);
    this.settleQueue(lost(reason));
  }

  #settle({ attempt, resolve }: WaitingAttempt, outcome: Outcome): void {
    this.#owners.delete(attempt.executionId);
    resolve(outcome);
  }

  /** Pumps once for all attempts that start and end in this turn of the event loop. */
  #pumpSoon(): void {
    if (this.#pumpScheduled) return;
    this.#pumpScheduled = true;
    queueMicrotask(() => {
      this.#pumpScheduled = false;
      this.#pump();
    });
  }

  /** Assigns waiting attempts to runners, and starts and drains runners as needed. */
  #pump(): void {
    // Assigning an attempt changes the runner, which calls this again.
    if (this.#pumping) return;
    this.#pumping = true;
    const rest: WaitingAttempt[] = [];
    for (const waiting of this.#queue) {
      const runner = waiting.attempt.alone ? this.#freshRunner() : this.#roomiestRunner();
      if (runner === undefined) rest.push(waiting);
      else this.#assign(waiting, runner);
    }
    this.#queue = rest;
    this.#assignChecks();
    this.#replaceRunners();
    this.#startForQueue();
    this.#startForChecks();
    if (this.#retired) for (const runner of this.#runners) if (runner.idle) runner.drain();
    this.#pumping = false;
    if (this.#queue.length + this.#checks.length === 0) clearTimeout(this.#startTimer);
    if (this.empty) this.#onEmpty();
  }

  #assign(waiting: WaitingAttempt, runner: RunnerProcess): void {
    const { attempt } = waiting;
    this.#owners.set(attempt.executionId, runner);
    runner.run(attempt, (outcome) => this.#settle(waiting, outcome));
  }

  #roomiestRunner(): RunnerProcess | undefined {
    let best: RunnerProcess | undefined;
    let bestRoom = 0;
    for (const runner of this.#runners) {
      const { room } = runner;
      if (room > bestRoom) [best, bestRoom] = [runner, room];
    }
    return best;
  }

  /** A runner for an attempt that must run alone. */
  #freshRunner(): RunnerProcess | undefined {
    if (this.#aloneRoom <= 0) return undefined;
    for (const runner of this.#runners) if (runner.fresh && runner.room > 0) return runner;
    return undefined;
  }

  /** Suspects never take all runners: they may block them until their timeout. */
  get #aloneRoom(): number {
    let room = Math.max(1, this.#maxRunners - 1);
    for (const runner of this.#runners) if (runner.reserved) room -= 1;
    return room;
  }

  /** Drains a runner that uses much memory once another one can take over. */
  #replaceRunners(): void {
    for (const runner of this.#runners) {
      if (!runner.needsReplacement) continue;
      const successor = [...this.#runners].some((other) => !other.needsReplacement && other.room > 0);
      if (successor || this.#runners.size >= this.#maxRunners) runner.drain();
      else if (this.#starting === 0) this.#startSoon();
      return;
    }
  }

  #assignChecks(): void {
    if (this.#checks.length === 0) return;
    const runner = this.#validator;
    if (runner === undefined) return;
    for (const { module, input, resolve } of this.#checks.splice(0)) {
      void runner.validate(module, input).then(resolve);
    }
  }

  #startForChecks(): void {
    if (this.#checks.length === 0 || this.#starting > 0 || this.#runners.size >= this.#maxRunners) return;
    // The last runners of a retired deployment may be draining; nothing else starts.
    if (this.#retired) for (const { resolve } of this.#checks.splice(0)) resolve(null);
    else this.#startSoon();
  }

  #startForQueue(): void {
    if (this.#queue.length === 0) return;
    const waitingAlone = this.#queue.filter(({ attempt }) => attempt.alone).length;
    const alone = Math.min(waitingAlone, this.#aloneRoom);
    const shared = Math.ceil((this.#queue.length - waitingAlone) / this.#options.limits.executionsPerRunner);
    for (let wanted = alone + shared - this.#starting; wanted > 0; wanted--) {
      if (this.#runners.size >= this.#maxRunners) {
        if (alone > 0) this.#drainForAlone();
        return;
      }
      if (!this.#startSoon()) return;
    }
  }

  /** Drains the runner with the fewest attempts, so that an attempt that must run alone gets its place. */
  #drainForAlone(): void {
    const runners = [...this.#runners];
    if (runners.some((runner) => runner.draining || runner.reserved)) return;
    const open = runners.filter((runner) => runner.idle || runner.attemptCount > 0);
    open.toSorted((a, b) => a.attemptCount - b.attemptCount)[0]?.drain();
  }

  /** False when the start limiter delays the start. */
  #startSoon(): boolean {
    const waitMs = this.#startLimiter.take();
    if (waitMs > 0) {
      clearTimeout(this.#startTimer);
      this.#startTimer = setTimeout(() => this.#pump(), waitMs);
      return false;
    }
    this.#start({ preload: false }).catch((error: unknown) => this.#onFailedStart(error));
    return true;
  }

  #onFailedStart(error: unknown): void {
    if (++this.#failedStarts < maxFailedStarts) return;
    this.#failedStarts = 0;
    // The cause is for the operator and may contain paths. A problem of the package is for its author.
    log.error("Cannot start a runner", { error, deployment_id: this.#deploymentId });
    this.settleQueue(
      error instanceof PackageError
        ? failure("load", error.name, error.message)
        : lost("The runner could not be started"),
    );
  }

  async #start({ preload }: { preload: boolean }): Promise<void> {
    const { events, limits, locate } = this.#options;
    let release: () => void = () => {};
    const runner = new RunnerProcess(this.#deploymentId, limits, {
      log: (deploymentId, entries) => events.log(deploymentId, entries),
      respond: (executionId, response) => events.respond(executionId, response),
      span: (executionId, span) => events.span?.(executionId, span),
      runChildExecution: (executionId, request, signal) =>
        events.runChildExecution(executionId, request, signal),
      changed: () => this.#pumpSoon(),
      misbehaved: () => {
        metrics.runnerFailures.add();
        this.#limit();
      },
      ended: () => {
        release();
        this.#remove(runner);
      },
    });
    this.#runners.add(runner);
    this.#starting += 1;
    try {
      const location = await locate(this.#deploymentId);
      release = () => location.release?.();
      await launch(runner, location, this.#options);
      metrics.runnerStarts.add("started");
      this.#failedStarts = 0;
      if (preload) for (const module of location.modules ?? []) void runner.load(module);
    } catch (error) {
      release();
      metrics.runnerStarts.add("failed");
      this.#runners.delete(runner);
      throw error;
    } finally {
      this.#starting -= 1;
      this.#pump();
    }
  }

  #limit(): void {
    clearTimeout(this.#limitTimer);
    this.#limitTimer = setTimeout(() => {
      this.#limitTimer = undefined;
      this.#pump();
    }, limitedMs);
    this.#limitTimer.unref();
  }

  #remove(runner: RunnerProcess): void {
    this.#runners.delete(runner);
    this.#pump();
  }
}
