/** The attempts in one runner. */
import type { AttemptMessage } from "../runner/protocol.ts";
import type { Attempt } from "./contract.ts";
import { ProtocolError } from "./parse-value.ts";
import type { AbortReason, RunningAttempt } from "./running-attempt.ts";

export class RunningAttempts {
  readonly #running = new Map<string, RunningAttempt>();
  #served = 0;
  #waiting = 0;
  #aborted = 0;

  get size(): number {
    return this.#running.size;
  }

  /** The number of attempts that the runner has had so far. */
  get served(): number {
    return this.#served;
  }

  /** The number of attempts that hold a slot. */
  get active(): number {
    return this.#running.size - this.#waiting;
  }

  /** Whether one of them was aborted: the runner may have to be killed. */
  get aborted(): boolean {
    return this.#aborted > 0;
  }

  add(running: RunningAttempt): void {
    this.#served += 1;
    this.#running.set(running.attempt.executionId, running);
  }

  has(running: RunningAttempt): boolean {
    return this.#running.get(running.attempt.executionId) === running;
  }

  /** @throws ProtocolError when the runner does not run the execution */
  get(executionId: string): RunningAttempt {
    const running = this.#running.get(executionId);
    if (running === undefined) throw new ProtocolError("it sent a message for an unknown execution");
    return running;
  }

  /** The attempt, unless it is not here or was aborted before. */
  unaborted(executionId: string): RunningAttempt | undefined {
    const running = this.#running.get(executionId);
    return running?.aborted === false ? running : undefined;
  }

  abort(
    running: RunningAttempt,
    reason: AbortReason,
    message: string,
    graceMs: number,
    onGraceOver: () => void,
  ): void {
    this.#aborted += 1;
    running.abort(reason, message, graceMs, onGraceOver);
  }

  /** @throws ProtocolError as `RunningAttempt.startChild` does */
  startChild(running: RunningAttempt, index: number): AbortSignal {
    const { waiting } = running;
    const signal = running.startChild(index);
    if (!waiting) this.#waiting += 1;
    return signal;
  }

  endChild(running: RunningAttempt, index: number): void {
    running.endChild(index);
    if (!running.waiting) this.#waiting -= 1;
  }

  remove(running: RunningAttempt): void {
    this.#running.delete(running.attempt.executionId);
    if (running.waiting) this.#waiting -= 1;
    if (running.aborted) this.#aborted -= 1;
  }

  /** A copy, so that attempts can be removed during the iteration. */
  list(): RunningAttempt[] {
    return [...this.#running.values()];
  }
}

/** What a runner needs to know of an attempt. */
export function toMessage(attempt: Attempt): AttemptMessage {
  return {
    executionId: attempt.executionId,
    organizationId: attempt.organizationId,
    deploymentId: attempt.deploymentId,
    environment: attempt.environment,
    module: attempt.module,
    input: attempt.input,
    attemptNumber: attempt.attemptNumber,
    trigger: attempt.trigger,
    secrets: attempt.secrets,
    vars: attempt.vars ?? {},
    unreadableSecrets: attempt.unreadableSecrets,
    trace: attempt.trace ?? null,
  };
}
