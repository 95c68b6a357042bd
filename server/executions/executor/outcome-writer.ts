/**
 * Writes what follows from the outcome of an attempt: the end of its execution, a retry, or its return to the queue. The
 * lease decides: the outcome of an execution whose lease was lost is discarded.
 */
import { setTimeout } from "node:timers/promises";
import type { RetryPolicy } from "../../../project/definition.ts";
import type { RunningExecution } from "../../store/tables/leases.ts";
import { countEnd } from "../count.ts";
import type { Outcome } from "../pool/contract.ts";
import type { Responses } from "../responses.ts";
import { withoutDelay } from "../retry.ts";
import { afterAttempt, type Transition } from "../states.ts";
import { stateOf, TransitionWriter } from "../write-transition.ts";
import type { Health } from "./health.ts";
import type { ExecutorOptions } from "./options.ts";

/** Pauses before a failed write of an outcome is repeated: the first and the longest. */
const firstRepeatMs = 250;
const lastRepeatMs = 5_000;

export interface OutcomeParts {
  responses: Responses;
  closing: AbortSignal;
  health: Health;
  /** Called when an execution was queued. */
  onQueued(dueAtMs: number): void;
}

export class OutcomeWriter {
  readonly #options: ExecutorOptions;
  readonly #parts: OutcomeParts;
  readonly #transitions: TransitionWriter;

  constructor(options: ExecutorOptions, parts: OutcomeParts) {
    const { engine, reportsFailures = true } = options;
    this.#options = options;
    this.#parts = parts;
    this.#transitions = new TransitionWriter(engine, reportsFailures);
  }

  /** Resolves when the transition is on disk. */
  async write(row: RunningExecution, policy: RetryPolicy | null, outcome: Outcome): Promise<void> {
    const { engine, logs, retriesAtOnce = false } = this.#options;
    const { responses, closing, onQueued } = this.#parts;
    // A reader that finds the execution ended must find its whole log.
    if (!engine.ordered) await logs.flush();
    // A shutdown is not a loss.
    if (outcome.type === "lost" && (closing.aborted || outcome.unstarted)) {
      return this.#transitions.handBack(row);
    }
    const retry = policy !== null && retriesAtOnce ? withoutDelay(policy) : policy;
    const state = { ...stateOf(row), retry };
    const responding = responses.written(row);
    if (responding !== null) await responding;
    const transition = afterAttempt(state, outcome, Date.now(), Math.random);
    const written = await this.#untilWritten(row, transition);
    if (written === null) return;
    countEnd(row, written, Date.now());
    this.#options.onEnd?.(row, written);
    if (written.to === "queued") onQueued(written.dueAtMs);
  }

  /**
   * Repeats a write that failed, for example on a full disk. Meanwhile the heartbeat keeps the lease: without the write, the
   * execution would remain running until the next start.
   * @returns what was written; null when the lease was lost
   */
  async #untilWritten(row: RunningExecution, transition: Transition): Promise<Transition | null> {
    const { closing, health } = this.#parts;
    for (let delayMs = firstRepeatMs; ; delayMs = Math.min(2 * delayMs, lastRepeatMs)) {
      try {
        return await this.#transitions.write(row, transition);
      } catch (error) {
        if (closing.aborted) throw error;
        health.failed("Cannot write the end of an attempt", error, row.execution_id);
        await setTimeout(delayMs, undefined, { signal: closing }).catch(() => {});
      }
    }
  }
}
