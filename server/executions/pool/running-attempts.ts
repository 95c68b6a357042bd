/** The attempts in one runner. */
import type { AttemptMessage } from "../runner/protocol.ts";
import type { Attempt } from "./contract.ts";
import { ProtocolError } from "./parse-message.ts";
import type { AbortReason, RunningAttempt } from "./running-attempt.ts";

export class RunningAttempts {
  readonly #running = new Map<string, RunningAttempt>();
  #served = 0;
  #waiting = 0;
  #aborted = 0;

  get size(): number {
    return this.#running.size;
  }

  /** How many there have been. */
  get served(): number {
    return this.#served;
  }

  /** Those that hold a slot. */
  get active(): number {
    return this.#running.size - this.#waiting;
  }

  /** Whether one of them was aborted and may bring the runner to its end. */
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

  /** @throws ProtocolError when there is no such attempt: its runner speaks for what is not its own */
  own(executionId: string): RunningAttempt {
    const running = this.#running.get(executionId);
    if (running === undefined) throw new ProtocolError("it spoke for an execution that it does not run");
    return running;
  }

  /** The attempt, unless it is not here or was aborted before. */
  going(executionId: string): RunningAttempt | undefined {
    const running = this.#running.get(executionId);
    return running?.aborted === false ? running : undefined;
  }

  abort(
    running: RunningAttempt,
    reason: AbortReason,
    message: string,
    graceMs: number,
    over: () => void,
  ): void {
    this.#aborted += 1;
    running.abort(reason, message, graceMs, over);
  }

  /** @throws ProtocolError as `RunningAttempt.startRun` does */
  startRun(running: RunningAttempt, index: number): AbortSignal {
    const { waiting } = running;
    const signal = running.startRun(index);
    if (!waiting) this.#waiting += 1;
    return signal;
  }

  endRun(running: RunningAttempt, index: number): void {
    running.endRun(index);
    if (!running.waiting) this.#waiting -= 1;
  }

  remove(running: RunningAttempt): void {
    this.#running.delete(running.attempt.executionId);
    if (running.waiting) this.#waiting -= 1;
    if (running.aborted) this.#aborted -= 1;
  }

  /** All of them, which may be removed meanwhile. */
  list(): RunningAttempt[] {
    return [...this.#running.values()];
  }
}

/** What a runner is told of a attempt. */
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
  };
}
