/** The jobs in one child. */
import type { JobMessage } from "../child/protocol.ts";
import type { Job } from "./contract.ts";
import type { AbortReason, RunningJob } from "./running.ts";
import { ProtocolError } from "./validate.ts";

export class Jobs {
  readonly #running = new Map<string, RunningJob>();
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

  /** Whether one of them was aborted and may bring the child to its end. */
  get aborted(): boolean {
    return this.#aborted > 0;
  }

  add(running: RunningJob): void {
    this.#served += 1;
    this.#running.set(running.job.executionId, running);
  }

  has(running: RunningJob): boolean {
    return this.#running.get(running.job.executionId) === running;
  }

  /** @throws ProtocolError when there is no such job: its child speaks for what is not its own */
  own(executionId: string): RunningJob {
    const running = this.#running.get(executionId);
    if (running === undefined) throw new ProtocolError("it spoke for an execution that it does not run");
    return running;
  }

  /** The job, unless it is not here or was aborted before. */
  going(executionId: string): RunningJob | undefined {
    const running = this.#running.get(executionId);
    return running?.aborted === false ? running : undefined;
  }

  abort(running: RunningJob, reason: AbortReason, message: string, graceMs: number, over: () => void): void {
    this.#aborted += 1;
    running.abort(reason, message, graceMs, over);
  }

  /** @throws ProtocolError as `RunningJob.startRun` does */
  startRun(running: RunningJob, index: number): AbortSignal {
    const { waiting } = running;
    const signal = running.startRun(index);
    if (!waiting) this.#waiting += 1;
    return signal;
  }

  endRun(running: RunningJob, index: number): void {
    running.endRun(index);
    if (!running.waiting) this.#waiting -= 1;
  }

  remove(running: RunningJob): void {
    this.#running.delete(running.job.executionId);
    if (running.waiting) this.#waiting -= 1;
    if (running.aborted) this.#aborted -= 1;
  }

  /** All of them, which may be removed meanwhile. */
  list(): RunningJob[] {
    return [...this.#running.values()];
  }
}

/** What a child is told of a job. */
export function toMessage(job: Job): JobMessage {
  return {
    executionId: job.executionId,
    organizationId: job.organizationId,
    deploymentId: job.deploymentId,
    environment: job.environment,
    module: job.module,
    input: job.input,
    attempt: job.attempt,
    trigger: job.trigger,
    secrets: job.secrets,
  };
}
