/** The runners of one deployment and the attempts that wait for them. */
import { availableParallelism } from "node:os";
import type { Attempt, Outcome, PoolOptions } from "./contract.ts";
import { launch } from "./launch.ts";
import { PackageError } from "./modules.ts";
import { lost } from "./outcomes.ts";
import { RunnerProcess } from "./runner-process.ts";
import { StartLimiter } from "./start-limiter.ts";

interface WaitingAttempt {
  attempt: Attempt;
  resolve: (outcome: Outcome | Promise<Outcome>) => void;
}

/** After so many runners in a row that ended before they were ready, what waits is handed back. */
const maxFailedStarts = 3;

/** How long a deployment's runners yield to everybody else's after one of them has disturbed the machine. */
const yieldMs = 10_000;

/** States: *in use*, or *retired* (its runners end when they have no attempt); *empty* when it holds nothing any more. */
export class DeploymentPool {
  readonly #deploymentId: string;
  readonly #options: PoolOptions;
  readonly #onEmpty: () => void;
  readonly #runners = new Set<RunnerProcess>();
  /** The runner of each attempt that was given to one. */
  readonly #owners = new Map<string, RunnerProcess>();
  readonly #budget = new StartLimiter();
  #queue: WaitingAttempt[] = [];
  #starting = 0;
  #failedStarts = 0;
  #startTimer: ReturnType<typeof setTimeout> | undefined;
  /** Runs while its runners yield. */
  #yieldTimer: ReturnType<typeof setTimeout> | undefined;
  #disturbsGravely = false;
  #retired = false;
  #pumping = false;

  /** @param onEmpty - called each time that it comes to hold neither a attempt nor a runner */
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

  /**
   * While they yield, runners leave a processor free where there are two or more; two there are always, so that a attempt
   * that must be alone does not keep the others waiting.
   */
  get #maxRunners(): number {
    const { runnersPerDeployment } = this.#options.limits;
    return this.#yieldTimer === undefined
      ? runnersPerDeployment
      : Math.min(runnersPerDeployment, Math.max(2, availableParallelism() - 1));
  }

  /** It holds neither a attempt nor a runner. */
  get empty(): boolean {
    return this.#runners.size === 0 && this.#queue.length === 0;
  }

  run(attempt: Attempt): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#queue.push({ attempt, resolve });
      this.#pump();
    });
  }

  /** False when it has no such attempt. */
  cancel(executionId: string): boolean {
    const index = this.#queue.findIndex(({ attempt }) => attempt.executionId === executionId);
    if (index >= 0) {
      for (const { resolve } of this.#queue.splice(index, 1)) resolve({ type: "cancelled" });
      this.#pump();
      return true;
    }
    const runner = this.#owners.get(executionId);
    runner?.cancel(executionId);
    return runner !== undefined;
  }

  /** @throws Error when no runner could be started */
  async warm(): Promise<void> {
    this.#retired = false;
    if (this.#runners.size > 0) return;
    await this.#start({ preload: true });
  }

  retire(): void {
    this.#retired = true;
    this.#pump();
  }

  /** Hands back what waits for a runner. */
  handBackQueue(reason: string): void {
    for (const { resolve } of this.#queue.splice(0)) resolve(lost(reason));
    this.#pump();
  }

  /** Ends every runner at once. */
  handBackAll(reason: string): void {
    this.#retired = true;
    for (const runner of this.#runners) runner.end(reason);
    this.handBackQueue(reason);
  }

  /** Gives waiting attempts to runners with room, and starts and ends runners as that needs. */
  #pump(): void {
    // Giving a attempt to a runner may change it, which would come back here.
    if (this.#pumping) return;
    this.#pumping = true;
    const rest: WaitingAttempt[] = [];
    for (const waiting of this.#queue) {
      const runner = waiting.attempt.alone ? this.#freshRunner() : this.#roomiestRunner();
      if (runner === undefined) rest.push(waiting);
      else this.#give(waiting, runner);
    }
    this.#queue = rest;
    this.#replaceRunners();
    this.#startForQueue();
    if (this.#retired) for (const runner of this.#runners) if (runner.idle) runner.drain();
    this.#pumping = false;
    if (this.#queue.length === 0) clearTimeout(this.#startTimer);
    if (this.empty) this.#onEmpty();
  }

  #give({ attempt, resolve }: WaitingAttempt, runner: RunnerProcess): void {
    const { executionId } = attempt;
    this.#owners.set(executionId, runner);
    runner.take(attempt, (outcome) => {
      this.#owners.delete(executionId);
      resolve(outcome);
    });
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

  /** A runner for a attempt that must be alone: they never take all runners, since they may well spin. */
  #freshRunner(): RunnerProcess | undefined {
    if (this.#aloneRoom <= 0) return undefined;
    for (const runner of this.#runners) if (runner.fresh && runner.room > 0) return runner;
    return undefined;
  }

  get #aloneRoom(): number {
    let room = Math.max(1, this.#maxRunners - 1);
    for (const runner of this.#runners) if (runner.reserved) room -= 1;
    return room;
  }

  /** Lets a runner with too much memory go once another can take over. */
  #replaceRunners(): void {
    for (const runner of this.#runners) {
      if (!runner.needsReplacement) continue;
      const successor = [...this.#runners].some((other) => !other.needsReplacement && other.room > 0);
      if (successor || this.#runners.size >= this.#maxRunners) runner.drain();
      else if (this.#starting === 0) this.#startSoon();
      return;
    }
  }

  #startForQueue(): void {
    if (this.#queue.length === 0) return;
    const waitingAlone = this.#queue.filter(({ attempt }) => attempt.alone).length;
    const alone = Math.min(waitingAlone, this.#aloneRoom);
    const shared = Math.ceil((this.#queue.length - waitingAlone) / this.#options.limits.executionsPerRunner);
    for (let wanted = alone + shared - this.#starting; wanted > 0; wanted--) {
      if (this.#runners.size >= this.#maxRunners) {
        if (alone > 0) this.#makeRoom();
        return;
      }
      if (!this.#startSoon()) return;
    }
  }

  /** A attempt that must be alone takes the place of the runner that is done soonest; one at a time makes room. */
  #makeRoom(): void {
    const runners = [...this.#runners];
    if (runners.some((runner) => runner.draining || runner.reserved)) return;
    const open = runners.filter((runner) => runner.idle || runner.attemptCount > 0);
    open.toSorted((a, b) => a.attemptCount - b.attemptCount)[0]?.drain();
  }

  /** False when the budget does not allow a start now; then it comes later. */
  #startSoon(): boolean {
    const waitMs = this.#budget.take();
    if (waitMs > 0) {
      clearTimeout(this.#startTimer);
      this.#startTimer = setTimeout(() => this.#pump(), waitMs);
      return false;
    }
    this.#start({ preload: false }).catch((error: unknown) => {
      if (++this.#failedStarts < maxFailedStarts) return;
      this.#failedStarts = 0;
      // Why is for whoever runs the server: it may name paths. What is wrong with a package is for its author.
      console.error("Cannot start a process for executions:", error);
      const why = error instanceof PackageError ? `: ${error.message}` : "";
      this.handBackQueue(`Its process could not be started${why}`);
    });
    return true;
  }

  async #start({ preload }: { preload: boolean }): Promise<void> {
    const { events, limits, locate } = this.#options;
    const runner = new RunnerProcess(this.#deploymentId, limits, {
      log: (deploymentId, entries) => events.log(deploymentId, entries),
      runChildExecution: (executionId, request, signal) =>
        events.runChildExecution(executionId, request, signal),
      changed: () => this.#pump(),
      disturbs: (gravely) => this.#yield(gravely),
      ended: () => this.#remove(runner),
    });
    this.#runners.add(runner);
    this.#starting += 1;
    try {
      const location = await locate(this.#deploymentId);
      await launch(runner, location, this.#options, this.#yieldTimer !== undefined);
      if (this.#yieldTimer === undefined) runner.stopYielding();
      else runner.yieldToOthers(this.#disturbsGravely);
      this.#failedStarts = 0;
      if (preload) for (const module of location.modules ?? []) void runner.load(module);
    } catch (error) {
      this.#runners.delete(runner);
      throw error;
    } finally {
      this.#starting -= 1;
      this.#pump();
    }
  }

  /** Whoever leaks, spins or crashes does so again, and each of its processes would take its share of the machine. */
  #yield(gravely: boolean): void {
    this.#disturbsGravely ||= gravely;
    for (const runner of this.#runners) runner.yieldToOthers(gravely);
    clearTimeout(this.#yieldTimer);
    this.#yieldTimer = setTimeout(() => {
      this.#yieldTimer = undefined;
      this.#disturbsGravely = false;
      for (const runner of this.#runners) runner.stopYielding();
      this.#pump();
    }, yieldMs);
    this.#yieldTimer.unref();
  }

  #remove(runner: RunnerProcess): void {
    this.#runners.delete(runner);
    this.#pump();
  }
}
