/** Writing down what became of an attempt: the row, and what people are told of it. */
import type { Program } from "../store/engine.ts";
import type { ExecutionRow } from "../store/executions.ts";
import { finishExecution, insertAttempt, loseExecution, retryExecution } from "../store/leases.ts";
import type { NewLog } from "../store/logs.ts";
import type { StoredError, Transition } from "./states.ts";

/** Writes a transition; false when the lease was no longer held and nothing was changed. */
export function* applyTransition(row: ExecutionRow, transition: Transition, nowMs: number): Program<boolean> {
  switch (transition.to) {
    case "succeeded":
      return yield* finishExecution(row, "succeeded", transition.output, null, nowMs);
    case "cancelled":
      return yield* finishExecution(row, "cancelled", null, null, nowMs);
    case "failed": {
      const error = JSON.stringify(transition.error);
      const held = yield* finishExecution(row, "failed", null, error, nowMs);
      if (held) yield* insertAttempt(row, error, nowMs, null);
      return held;
    }
    case "queued":
      return transition.because === "retry"
        ? yield* retryExecution(row, JSON.stringify(transition.error), transition.dueAtMs, nowMs)
        : yield* loseExecution(row, transition.alone, transition.dueAtMs);
  }
}

/** What people want to know of an execution that did not simply succeed. */
export function logLine(row: ExecutionRow, transition: Transition, nowMs: number): NewLog | null {
  const message = describe(row, transition, nowMs);
  if (message === null) return null;
  return {
    org_id: row.org_id,
    at: nowMs,
    level: transition.to === "failed" ? "error" : "warn",
    source: "execution",
    message,
    execution_id: row.execution_id,
    deployment_id: row.deployment_id,
    name: row.name,
    environment: row.environment,
  };
}

function describe(row: ExecutionRow, transition: Transition, nowMs: number): string | null {
  switch (transition.to) {
    case "succeeded":
      return null;
    case "cancelled":
      return `The ${row.kind} '${row.name}' was cancelled.`;
    case "failed":
      return `Attempt ${row.attempt} failed: ${oneLine(transition.error)}. It will not be tried again.`;
    case "queued": {
      const seconds = Math.max(0, (transition.dueAtMs - nowMs) / 1000).toFixed(1);
      return transition.because === "retry"
        ? `Attempt ${row.attempt} failed: ${oneLine(transition.error)}. It will be tried again in ${seconds} s.`
        : `The worker was lost (${transition.reason.replace(/\.$/, "")}); the attempt starts anew.`;
    }
  }
}

function oneLine(error: StoredError): string {
  return `${error.name}: ${error.message}`.replaceAll(/\s+/g, " ").replace(/\.$/, "");
}
