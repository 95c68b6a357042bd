/** Counts attempts and ended executions in the metrics. */
import type { RunningExecution } from "../store/tables/leases.ts";
import { metrics, secondsSince } from "../telemetry/metrics/index.ts";
import type { Outcome } from "./pool/contract.ts";
import type { Transition } from "./states.ts";

/** @param startedMs - of the attempt, by `performance.now()` */
export function countAttempt(row: RunningExecution, outcome: Outcome, startedMs: number): void {
  const { kind } = row;
  metrics.queueWait.observe(((row.attempt_started_at ?? row.due_at) - row.due_at) / 1000);
  metrics.attempts.add(outcome.type === "failed" ? outcome.reason : outcome.type, kind);
  metrics.attemptDuration.observe(secondsSince(startedMs), kind);
}

/** Counts an execution if the transition has ended it. */
export function countEnd(row: RunningExecution, { to }: Transition, nowMs: number): void {
  if (to === "queued") return;
  metrics.finished.add(to, row.kind, row.origin);
  metrics.executionDuration.observe((nowMs - row.created_at) / 1000, row.kind);
}
