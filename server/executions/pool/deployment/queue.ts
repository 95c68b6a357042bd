/** The attempts of a deployment: *waiting* in the order of their arrival, then *assigned* to a runner, until they settle. */
import type { Attempt, Outcome } from "../contract.ts";
import type { RunnerProcess } from "../runner-process.ts";
import { RecentEnds } from "./recent-ends.ts";

interface WaitingAttempt {
  attempt: Attempt;
  sinceMs: number;
  resolve: (outcome: Outcome) => void;
}

export class AttemptQueue {
  #waiting: WaitingAttempt[] = [];
  /** The runner of each attempt, by execution; null while it waits. */
  readonly #owners = new Map<string, RunnerProcess | null>();
  readonly #ends = new RecentEnds();

  /** The number of waiting attempts. */
  get length(): number {
    return this.#waiting.length;
  }

  /** The number of waiting attempts that need a runner of their own. */
  get alone(): number {
    return this.#waiting.filter(({ attempt }) => attempt.alone).length;
  }

  /** The number of assigned attempts that will probably end within a time. */
  endsWithin(ms: number): number {
    return this.#ends.expected(this.#owners.size - this.#waiting.length, ms);
  }

  /** Whether an attempt of the execution waits or is assigned. */
  has(executionId: string): boolean {
    return this.#owners.has(executionId);
  }

  /** The runner of an execution; null while it waits, and undefined when it is not here. */
  ownerOf(executionId: string): RunnerProcess | null | undefined {
    return this.#owners.get(executionId);
  }

  add(attempt: Attempt, resolve: (outcome: Outcome) => void): void {
    this.#owners.set(attempt.executionId, null);
    this.#waiting.push({ attempt, sinceMs: performance.now(), resolve });
  }

  /** Gives each waiting attempt to a runner, or leaves it in the queue when there is none for it. */
  assign(runnerFor: (attempt: Attempt) => RunnerProcess | undefined): void {
    if (this.#waiting.length === 0) return;
    const rest: WaitingAttempt[] = [];
    const atMs = performance.now();
    for (const waiting of this.#waiting) {
      const { attempt } = waiting;
      const runner = runnerFor(attempt);
      if (runner === undefined) {
        rest.push(waiting);
        continue;
      }
      this.#owners.set(attempt.executionId, runner);
      runner.run(attempt, (outcome) => {
        this.#ends.add(performance.now(), atMs);
        this.#settle(waiting, outcome);
      });
    }
    this.#waiting = rest;
  }

  /** Ends the waiting attempt of an execution with an outcome. */
  settle(executionId: string, outcome: Outcome): void {
    const index = this.#waiting.findIndex(({ attempt }) => attempt.executionId === executionId);
    for (const waiting of this.#waiting.splice(index, 1)) this.#settle(waiting, outcome);
  }

  /** Ends the newest waiting attempts with an outcome, up to `count` of those that have waited since `beforeMs`. */
  settleNewest(count: number, beforeMs: number, outcome: Outcome): void {
    const old = this.#waiting.filter(({ attempt, sinceMs }) => !attempt.alone && sinceMs <= beforeMs);
    const newest = new Set(count > 0 ? old.slice(-count) : []);
    this.#waiting = this.#waiting.filter((waiting) => !newest.has(waiting));
    for (const waiting of newest) this.#settle(waiting, outcome);
  }

  /** Ends all waiting attempts with an outcome. */
  settleAll(outcome: Outcome): void {
    for (const waiting of this.#waiting.splice(0)) this.#settle(waiting, outcome);
  }

  #settle({ attempt, resolve }: WaitingAttempt, outcome: Outcome): void {
    this.#owners.delete(attempt.executionId);
    resolve(outcome);
  }
}
