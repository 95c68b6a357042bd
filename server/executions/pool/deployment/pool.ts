/**
 * The runners of one deployment, and the attempts that wait for them.
 *
 * States: *open*, or *retired*: its runners end when they have no attempts.
 *
 * Each change (a new attempt, a runner with room, the end of a runner) leads to `#pump`, which gives waiting attempts to
 * runners, and starts and drains runners until their number fits.
 */
import type { JsonObject } from "../../../../project/json.ts";
import type { Attempt, Outcome, PoolOptions, RunnerCounts, Violation } from "../contract.ts";
import { PackageError } from "../modules.ts";
import { failure, lost } from "../outcomes.ts";
import { InputChecks } from "./input-checks.ts";
import { AttemptQueue } from "./queue.ts";
import { Runners } from "./runners.ts";
import { RunnerStarter } from "./starter.ts";

/** How long an attempt that is claimed ahead may wait for a runner. A claim and its commit take less. */
const aheadMs = 20;

/**
 * How long attempts in excess of the places in runners may wait, when the attempts in the runners take longer than
 * expected. Then they return to the queue, because another worker may have places.
 */
const excessMs = 1_000;

export class DeploymentPool {
  readonly #executionsPerRunner: number;
  readonly #onEmpty: () => void;
  readonly #runners: Runners;
  readonly #starter: RunnerStarter;
  readonly #queue = new AttemptQueue();
  readonly #checks = new InputChecks();
  #excessTimer: ReturnType<typeof setTimeout> | undefined;
  #retired = false;
  #pumping = false;
  #pumpScheduled = false;
  #checkScheduled = false;

  /** @param onEmpty - called each time that the pool has neither an attempt nor a runner left */
  constructor(deploymentId: string, options: PoolOptions, onEmpty: () => void) {
    this.#executionsPerRunner = options.limits.executionsPerRunner;
    this.#onEmpty = onEmpty;
    this.#runners = new Runners(options.limits, () => this.#pump());
    this.#starter = new RunnerStarter(deploymentId, options, this.#runners, {
      changed: () => this.#pumpSoon(),
      pump: () => this.#pump(),
      failed: (error) => this.#failed(error),
    });
  }

  get retired(): boolean {
    return this.#retired;
  }

  get free(): number {
    return this.#retired ? 0 : Math.max(0, this.#places - this.#queue.length);
  }

  /** The number of further attempts that its runners accept, and those that it may still start. */
  get #places(): number {
    const later = Math.max(0, this.#runners.max - this.#runners.size + this.#starter.starting);
    return this.#runners.room + later * this.#executionsPerRunner;
  }

  get ahead(): number {
    return this.#retired ? 0 : this.#queue.endsWithin(aheadMs);
  }

  /** Whether it has neither an attempt nor a runner. */
  get empty(): boolean {
    return this.#runners.size === 0 && this.#queue.length === 0;
  }

  /** Adds its runners and waiting attempts. */
  count(counts: RunnerCounts): void {
    this.#runners.count(counts);
    counts.waitingAttempts += this.#queue.length;
  }

  /** Whether an attempt of the execution runs or waits here. */
  has(executionId: string): boolean {
    return this.#queue.has(executionId);
  }

  run(attempt: Attempt): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#queue.add(attempt, resolve);
      this.#pumpSoon();
    });
  }

  /**
   * Checks an input against the schema of a module, in a runner that answers.
   *
   * @returns null when the input is valid, and when no runner answers in time
   */
  validate(module: string, input: JsonObject): Promise<Violation[] | null> {
    const checked = this.#checks.add(module, input);
    this.#checkSoon();
    return checked;
  }

  /** False when the execution is not here. */
  cancel(executionId: string): boolean {
    const runner = this.#queue.ownerOf(executionId);
    if (runner === undefined) return false;
    if (runner !== null) runner.cancel(executionId);
    else {
      this.#queue.settle(executionId, { type: "cancelled" });
      this.#pump();
    }
    return true;
  }

  /** @throws Error when no runner can be started */
  async warm(): Promise<void> {
    this.#retired = false;
    if (this.#runners.size > 0) return;
    await this.#starter.start({ preload: true });
  }

  retire(): void {
    this.#retired = true;
    this.#pump();
  }

  /** Ends the waiting attempts with an outcome. */
  settleQueue(outcome: Outcome): void {
    this.#queue.settleAll(outcome);
    this.#checks.giveUp();
    this.#pump();
  }

  /** Kills every runner and hands back all attempts. */
  handBackAll(reason: string): void {
    this.#retired = true;
    this.#runners.end(reason);
    this.settleQueue(lost(reason));
  }

  #failed(error: unknown): void {
    this.settleQueue(
      error instanceof PackageError
        ? failure("load", error.name, error.message)
        : lost("The runner could not be started"),
    );
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

  /** The inputs of all requests of one iteration of the event loop leave in one message. */
  #checkSoon(): void {
    if (this.#checkScheduled) return;
    this.#checkScheduled = true;
    setImmediate(() => {
      this.#checkScheduled = false;
      this.#pump();
    });
  }

  /** Assigns waiting attempts to runners, and starts and drains runners as needed. */
  #pump(): void {
    // Assigning an attempt changes the runner, which calls this again.
    if (this.#pumping) return;
    this.#pumping = true;
    const runners = this.#runners;
    this.#queue.assign(({ alone }) => (alone ? runners.fresh : runners.roomiest));
    this.#assignChecks();
    if (runners.replace() && this.#starter.starting === 0) this.#starter.startSoon();
    this.#startForQueue();
    this.#startForChecks();
    if (this.#retired) runners.drainIdle();
    this.#pumping = false;
    if (this.#queue.length + this.#checks.length === 0) this.#starter.cancelDelayed();
    if (this.#queue.length > 0) this.#watchExcess();
    if (this.empty) this.#onEmpty();
  }

  #watchExcess(): void {
    this.#excessTimer ??= setTimeout(() => {
      this.#excessTimer = undefined;
      const excess = this.#queue.length - this.#queue.alone - this.#places;
      const outcome = { ...lost("All runners are busy"), unstarted: true } as const;
      this.#queue.settleNewest(excess, performance.now() - excessMs, outcome);
      this.#pump();
    }, excessMs).unref();
  }

  #assignChecks(): void {
    if (this.#checks.length === 0) return;
    const runner = this.#runners.validator;
    if (runner !== undefined) this.#checks.assign(runner);
  }

  #startForQueue(): void {
    if (this.#queue.length === 0) return;
    const waitingAlone = this.#queue.alone;
    const alone = Math.min(waitingAlone, this.#runners.aloneRoom);
    const shared = Math.ceil((this.#queue.length - waitingAlone) / this.#executionsPerRunner);
    for (let wanted = alone + shared - this.#starter.starting; wanted > 0; wanted--) {
      if (this.#runners.size >= this.#runners.max) {
        if (alone > 0) this.#runners.drainForAlone();
        return;
      }
      if (!this.#starter.startSoon()) return;
    }
  }

  #startForChecks(): void {
    const { starting } = this.#starter;
    if (this.#checks.length === 0 || starting > 0 || this.#runners.size >= this.#runners.max) return;
    // The last runners of a retired deployment may be draining; nothing else starts.
    if (this.#retired) this.#checks.giveUp();
    else this.#starter.startSoon();
  }
}
