/**
 * The runners of a deployment, and which of them takes an attempt.
 *
 * While *limited*, the deployment has fewer runners, because one of them blocks its event loop now, or has crashed or exceeded
 * its memory a moment ago.
 */
import type { PoolLimits, RunnerCounts } from "../contract.ts";
import type { RunnerProcess } from "../runner-process.ts";

/** How long a deployment is limited to fewer runners after one of them has misbehaved. */
const limitedMs = 10_000;

/** The limit of that time: one runner for an attempt that must run alone, and one for the rest. */
const limitedRunners = 2;

export class Runners {
  readonly #limits: PoolLimits;
  readonly #onUnlimited: () => void;
  readonly #runners = new Set<RunnerProcess>();
  #limitTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param onUnlimited - called when more runners may start again */
  constructor(limits: PoolLimits, onUnlimited: () => void) {
    this.#limits = limits;
    this.#onUnlimited = onUnlimited;
  }

  get size(): number {
    return this.#runners.size;
  }

  /** The number of runners that the deployment may have. */
  get max(): number {
    const { runnersPerDeployment } = this.#limits;
    return this.#limited ? Math.min(runnersPerDeployment, limitedRunners) : runnersPerDeployment;
  }

  /** The number of attempts that running runners accept now. */
  get room(): number {
    let room = 0;
    for (const runner of this.#runners) room += runner.room;
    return room;
  }

  add(runner: RunnerProcess): void {
    this.#runners.add(runner);
  }

  delete(runner: RunnerProcess): void {
    this.#runners.delete(runner);
  }

  count(counts: RunnerCounts): void {
    for (const runner of this.#runners) counts[runner.activity] += 1;
  }

  /** Limits the deployment, because a runner has misbehaved. */
  limit(): void {
    clearTimeout(this.#limitTimer);
    this.#limitTimer = setTimeout(() => {
      this.#limitTimer = undefined;
      this.#onUnlimited();
    }, limitedMs);
    this.#limitTimer.unref();
  }

  get #limited(): boolean {
    if (this.#limitTimer !== undefined) return true;
    for (const runner of this.#runners) if (runner.unresponsive) return true;
    return false;
  }

  /** The runner with the most room. */
  get roomiest(): RunnerProcess | undefined {
    let best: RunnerProcess | undefined;
    let bestRoom = 0;
    for (const runner of this.#runners) {
      const { room } = runner;
      if (room > bestRoom) [best, bestRoom] = [runner, room];
    }
    return best;
  }

  /** A runner for an attempt that must run alone. */
  get fresh(): RunnerProcess | undefined {
    if (this.aloneRoom <= 0) return undefined;
    for (const runner of this.#runners) if (runner.fresh && runner.room > 0) return runner;
    return undefined;
  }

  /** A runner that may check inputs: not one whose end would be assigned to a suspect. */
  get validator(): RunnerProcess | undefined {
    for (const runner of this.#runners) {
      if (runner.open && !runner.reserved && !runner.unresponsive) return runner;
    }
    return undefined;
  }

  /** Suspects never take all runners: they may block them until their timeout. */
  get aloneRoom(): number {
    let room = Math.max(1, this.max - 1);
    for (const runner of this.#runners) if (runner.reserved) room -= 1;
    return room;
  }

  /**
   * Drains a runner that uses much memory once another one can take over.
   *
   * @returns whether a successor must be started
   */
  replace(): boolean {
    for (const runner of this.#runners) {
      if (!runner.needsReplacement) continue;
      const successor = [...this.#runners].some((other) => !other.needsReplacement && other.room > 0);
      if (!successor && this.#runners.size < this.max) return true;
      runner.drain();
      return false;
    }
    return false;
  }

  /** Drains the runner with the fewest attempts, so that an attempt that must run alone gets its place. */
  drainForAlone(): void {
    const runners = [...this.#runners];
    if (runners.some((runner) => runner.draining || runner.reserved)) return;
    const open = runners.filter((runner) => runner.idle || runner.attemptCount > 0);
    open.toSorted((a, b) => a.attemptCount - b.attemptCount)[0]?.drain();
  }

  /** Drains those without attempts. */
  drainIdle(): void {
    for (const runner of this.#runners) if (runner.idle) runner.drain();
  }

  end(reason: string): void {
    for (const runner of this.#runners) runner.end(reason);
  }
}
