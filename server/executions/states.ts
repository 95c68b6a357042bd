/**
 * The states of an execution, as a pure function of what happened.
 *
 * `queued` waits for its due time. `running` is held by a worker under a lease. `succeeded`, `failed` and `cancelled` are
 * ends: nothing leaves them.
 *
 * - queued → running: a worker claims it.
 * - queued → cancelled: it is cancelled before it ran.
 * - running → succeeded: the attempt returned.
 * - running → queued: the attempt failed with retries left (`attempt` counts on, due later); or the worker was lost
 *   (`losses` counts on, `attempt` stays, for the agent did nothing wrong).
 * - running → failed: the attempt failed and no retry is left, or the error is final, or the fifth worker was lost.
 * - running → cancelled: the attempt ended after a cancellation was asked for.
 */
import type { RetryPolicy } from "../../project/definition.ts";
import type { ExecutionStatus } from "../store/executions.ts";
import type { Outcome } from "./pool/contract.ts";
import { retryDelayMs } from "./retry.ts";

/** After so many lost workers an execution fails: it may be what kills them. */
export const maxLosses = 5;

/** The wait after the second loss; it doubles with each, so that a crash loop does not spin. The first waits for nothing. */
const lossDelayMs = 200;

export interface RunningState {
  attempt: number;
  losses: number;
  cancelRequested: boolean;
  retry: RetryPolicy | null;
}

export interface StoredError {
  name: string;
  message: string;
  stack: string;
}

export type Transition =
  | { to: "succeeded"; output: string }
  | { to: "failed"; error: StoredError }
  | { to: "cancelled" }
  | { to: "queued"; because: "retry"; error: StoredError; dueAtMs: number }
  | { to: "queued"; because: "lost"; reason: string; alone: boolean; dueAtMs: number };

/** What follows from the outcome of an attempt. `random` is uniform in [0, 1). */
export function afterAttempt(
  state: RunningState,
  outcome: Outcome,
  nowMs: number,
  random: () => number,
): Transition {
  if (outcome.type === "succeeded") return { to: "succeeded", output: outcome.output };
  if (outcome.type === "cancelled") return { to: "cancelled" };
  if (state.cancelRequested) return { to: "cancelled" };
  if (outcome.type === "lost") return afterLoss(state, outcome.reason, outcome.suspect, nowMs);
  const retries = outcome.final ? 0 : (state.retry?.maxRetries ?? 0);
  if (state.retry === null || state.attempt > retries) return { to: "failed", error: outcome.error };
  const delayMs = retryDelayMs(state.retry, state.attempt, random);
  return { to: "queued", because: "retry", error: outcome.error, dueAtMs: nowMs + delayMs };
}

/** What follows when the worker was lost. */
export function afterLoss(state: RunningState, reason: string, alone: boolean, nowMs: number): Transition {
  if (state.cancelRequested) return { to: "cancelled" };
  if (state.losses + 1 >= maxLosses) {
    const message = `The execution was given up after its worker was lost ${maxLosses} times; the last time: ${reason}`;
    return { to: "failed", error: { name: "WorkerLostError", message, stack: "" } };
  }
  const dueAtMs = state.losses === 0 ? nowMs : nowMs + lossDelayMs * 2 ** (state.losses - 1);
  return { to: "queued", because: "lost", reason, alone, dueAtMs };
}

/** Whether an execution has ended. */
export function isEnd(status: ExecutionStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}
