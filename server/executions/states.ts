/**
 * The states of an execution, as pure functions.
 *
 * `queued` waits for its due time. `running` is held by a worker under a lease. `succeeded`, `failed` and `cancelled` are
 * final.
 *
 * - queued → running: a worker claims it.
 * - queued → cancelled: it is cancelled before it runs.
 * - running → succeeded: the attempt returned.
 * - running → queued: the attempt failed and has retries left (`attempt` increases, due later); or its runner or worker
 *   was lost (`losses` increases, `attempt` does not, because the agent or workflow did not fail).
 * - running → failed: the attempt failed and has no retries left, or the error excludes retries, or the fifth loss that
 *   counts has occurred.
 * - running → cancelled: the attempt ended after a cancellation request.
 *
 * A loss counts only when the execution is suspect: its runner ended for a reason that may be the execution, or its worker
 * ended while it ran nothing else.
 */
import type { RetryPolicy } from "../../project/definition.ts";
import type { ExecutionStatus } from "../store/tables/executions.ts";
import type { Outcome, SerializedError } from "./pool/contract.ts";
import { retryDelayMs } from "./retry.ts";

/** An execution fails at this number of losses that count: it probably ends its runners. */
export const maxRunnerLosses = 5;

/** The delay after the second loss. It doubles with each loss. The first loss causes no delay. */
const lossDelayMs = 200;
const maxLossDelayMs = 30_000;

export type StoredError = SerializedError;

export interface RunningState {
  attempt: number;
  losses: number;
  /** The losses that count. */
  runnerLosses: number;
  cancelRequested: boolean;
  retry: RetryPolicy | null;
}

export interface Loss {
  /** A sentence. */
  reason: string;
  /** Whether the next run must be alone in its runner. */
  alone: boolean;
  counts: boolean;
}

export type Transition =
  | { to: "succeeded"; output: string }
  | { to: "failed"; error: StoredError }
  | { to: "cancelled" }
  | { to: "queued"; because: "retry"; error: StoredError; dueAtMs: number }
  | ({ to: "queued"; because: "lost"; dueAtMs: number } & Loss);

/** The transition after an attempt. `random` is uniform in [0, 1). */
export function afterAttempt(
  state: RunningState,
  outcome: Outcome,
  nowMs: number,
  random: () => number,
): Transition {
  if (outcome.type === "succeeded") return { to: "succeeded", output: outcome.output };
  if (outcome.type === "cancelled") return { to: "cancelled" };
  if (state.cancelRequested) return { to: "cancelled" };
  if (outcome.type === "lost") {
    const { reason, suspect } = outcome;
    // A delay also without suspicion: runners that cannot be started must not be tried in a tight loop.
    const dueAtMs = nowMs + delayAfterLossMs(state.losses);
    return afterLoss(state, { reason, alone: suspect, counts: suspect }, dueAtMs);
  }
  const retries = outcome.final ? 0 : (state.retry?.maxRetries ?? 0);
  if (state.retry === null || state.attempt > retries) return { to: "failed", error: outcome.error };
  const delayMs = retryDelayMs(state.retry, state.attempt, random);
  return { to: "queued", because: "retry", error: outcome.error, dueAtMs: nowMs + delayMs };
}

/** The transition after a runner or a worker was lost. */
export function afterLoss(state: RunningState, loss: Loss, dueAtMs: number): Transition {
  if (state.cancelRequested) return { to: "cancelled" };
  if (loss.counts && state.runnerLosses + 1 >= maxRunnerLosses) {
    const message = `The execution lost its runner ${maxRunnerLosses} times and was given up. Last reason: ${loss.reason}`;
    return { to: "failed", error: { name: "RunnerLostError", message, stack: "" } };
  }
  return { to: "queued", because: "lost", dueAtMs, ...loss };
}

/** @param losses - before this one */
export function delayAfterLossMs(losses: number): number {
  return losses === 0 ? 0 : Math.min(maxLossDelayMs, lossDelayMs * 2 ** Math.min(losses - 1, 30));
}

/** Whether the status is final. */
export function isEnd(status: ExecutionStatus): boolean {
  return status === "succeeded" || status === "failed" || status === "cancelled";
}
