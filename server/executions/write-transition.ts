/** Writes the transition of an execution to its row and to the log. */
import type { Engine, Program } from "../store/engine.ts";
import type { ExecutionRow } from "../store/executions.ts";
import { finishExecution, insertAttempt, loseExecution, retryExecution } from "../store/leases.ts";
import { insertLogs, type NewLog } from "../store/logs.ts";
import { logTopic, type Notifier } from "./notifier.ts";
import type { RunningState, StoredError, Transition } from "./states.ts";

/** Has no effect on the row when its lease is no longer held. */
export async function writeTransition(
  { engine, notifier }: { engine: Engine; notifier: Notifier },
  row: ExecutionRow,
  transition: Transition,
): Promise<void> {
  const now = Date.now();
  const line = logLine(row, transition, now);
  await engine.write(function* () {
    const held = yield* applyTransition(row, transition, now);
    if (held && line !== null) yield* insertLogs([line]);
  });
  if (line !== null) notifier.notify(logTopic(row.org_id));
}

/** The state of a running execution, without its retry policy. */
export function stateOf(row: ExecutionRow): RunningState {
  return {
    attempt: row.attempt,
    losses: row.losses,
    runnerLosses: row.runner_losses,
    cancelRequested: row.cancel_requested === 1,
    retry: null,
  };
}

/** False when the lease was no longer held and nothing was changed. */
function* applyTransition(row: ExecutionRow, transition: Transition, nowMs: number): Program<boolean> {
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
        : yield* loseExecution(row, transition.counts, transition.alone, transition.dueAtMs);
  }
}

/** The log line of a transition, or null for a success. */
function logLine(row: ExecutionRow, transition: Transition, nowMs: number): NewLog | null {
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
      return `Attempt ${row.attempt} failed: ${oneLine(transition.error)}. There is no retry.`;
    case "queued": {
      const seconds = Math.max(0, (transition.dueAtMs - nowMs) / 1000).toFixed(1);
      return transition.because === "retry"
        ? `Attempt ${row.attempt} failed: ${oneLine(transition.error)}. The next attempt is due in ${seconds} s.`
        : `Attempt ${row.attempt} was interrupted and will run again. ${transition.reason.replace(/\.?$/, ".")}`;
    }
  }
}

function oneLine(error: StoredError): string {
  return `${error.name}: ${error.message}`.replaceAll(/\s+/g, " ").replace(/\.$/, "");
}
