/** The attempts of a deployment: *waiting* in the order of their arrival, then *assigned* to a runner, until they settle. */
import type { Attempt, Outcome } from "../contract.ts";
import type { RunnerProcess } from "../runner-process.ts";

interface WaitingAttempt {
  attempt: Attempt;
  resolve: (outcome: Outcome) => void;
}

export class AttemptQueue {
  #waiting: WaitingAttempt[] = [];
  /** The runner of each attempt, by execution; null while it waits. */
  readonly #owners = new Map<string, RunnerProcess | null>();

  /** The number of waiting attempts. */
  get length(): number {
    return this.#waiting.length;
  }

  /** The number of waiting attempts that need a runner of their own. */
  get alone(): number {
    return this.#waiting.filter(({ attempt }) => attempt.alone).length;
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
    this.#waiting.push({ attempt, resolve });
  }

  /** Gives each waiting attempt to a runner, or leaves it in the queue when there is none for it. */
  assign(runnerFor: (attempt: Attempt) => RunnerProcess | undefined): void {
    const rest: WaitingAttempt[] = [];
    for (const waiting of this.#waiting) {
      const { attempt } = waiting;
      const runner = runnerFor(attempt);
      if (runner === undefined) {
        rest.push(waiting);
        continue;
      }
      this.#owners.set(attempt.executionId, runner);
      runner.run(attempt, (outcome) => this.#settle(waiting, outcome));
    }
    this.#waiting = rest;
  }

  /** Ends the waiting attempt of an execution with an outcome. */
  settle(executionId: string, outcome: Outcome): void {
    const index = this.#waiting.findIndex(({ attempt }) => attempt.executionId === executionId);
    for (const waiting of this.#waiting.splice(index, 1)) this.#settle(waiting, outcome);
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
