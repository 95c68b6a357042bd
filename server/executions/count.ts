/** Counts attempts and ended executions in the metrics, and ends the spans of attempts. */
import type { RunningExecution } from "../store/tables/leases.ts";
import { metrics, secondsSince } from "../telemetry/metrics/index.ts";
import type { AttemptSpan } from "../telemetry/tracing/tracer.ts";
import type { Outcome } from "./pool/contract.ts";
import type { Transition } from "./states.ts";

/** @param startedMs - of the attempt, by `performance.now()` */
export function countAttempt(row: RunningExecution, outcome: Outcome, startedMs: number): void {
  const { kind } = row;
  metrics.queueWait.observe(((row.attempt_started_at ?? row.due_at) - row.due_at) / 1000);
  metrics.attempts.add(outcome.type === "failed" ? outcome.reason : outcome.type, kind);
  metrics.attemptDuration.observe(secondsSince(startedMs), kind);
}

export function endSpan(span: AttemptSpan, outcome: Outcome): void {
  const failed = outcome.type === "failed" ? `${outcome.error.name}: ${outcome.error.message}` : null;
  const message = outcome.type === "lost" ? outcome.reason : failed;
  const label = outcome.type === "failed" ? outcome.reason : outcome.type;
  span.end(
    label,
    message === null ? { code: 0, message: "" } : { code: 2, message: message.slice(0, 1_024) },
  );
}

/** Counts an execution if the transition has ended it. */
export function countEnd(row: RunningExecution, { to }: Transition, nowMs: number): void {
  if (to === "queued") return;
  metrics.finished.add(to, row.kind, row.origin);
  metrics.executionDuration.observe((nowMs - row.created_at) / 1000, row.kind);
}
