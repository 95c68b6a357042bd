/** Writes the transitions of executions to their rows and to the log. */
import { Batch } from "../store/batch.ts";
import { type Engine, notify, type Program } from "../store/engine.ts";
import type { RunningExecution } from "../store/tables/leases.ts";
import {
  type Ending,
  type FailedAttempt,
  finishExecutions,
  handBackExecutions,
  insertAttempts,
  type Lease,
  type LostLease,
  loseExecutions,
  type Retry,
  retryExecutions,
} from "../store/tables/leases.ts";
import { insertLogs, type NewLog } from "../store/tables/logs.ts";
import { createAlerts, type Failure } from "./alerts/create.ts";
import type { RunningState, StoredError, Transition } from "./states.ts";

export interface Change {
  row: RunningExecution;
  transition: Transition;
  atMs: number;
}

/** Writes the transitions of one turn together. */
export class TransitionWriter {
  readonly #changes: Batch<Change, Transition | null>;
  readonly #handBacks: Batch<RunningExecution, undefined>;

  /** @param reportsFailures - whether failures call `on_failure` of their project */
  constructor(engine: Engine, reportsFailures: boolean) {
    this.#changes = new Batch(engine, (changes) => applyTransitions(changes, reportsFailures));
    this.#handBacks = new Batch(engine, handBack);
  }

  /** @returns the transition as `applyTransitions` has written it */
  write(row: RunningExecution, transition: Transition): Promise<Transition | null> {
    return this.#changes.add({ row, transition, atMs: Date.now() });
  }

  /** Requeues an execution when the worker shuts down. */
  handBack(row: RunningExecution): Promise<void> {
    return this.#handBacks.add(row);
  }
}

/** The state of a running execution, without its retry policy. */
export function stateOf(row: RunningExecution): RunningState {
  return {
    attempt: row.attempt,
    losses: row.losses,
    runnerLosses: row.runner_losses,
    cancelRequested: row.cancel_requested === 1,
    retry: null,
  };
}

/**
 * Returns for each change the transition that was written: *cancelled* in place of *queued* when another process has
 * requested the cancellation meanwhile, and null, without an effect, when the lease was no longer held.
 */
export function* applyTransitions(
  changes: readonly Change[],
  reportsFailures = true,
): Program<(Transition | null)[]> {
  const endings: Ending[] = [];
  const retries: Retry[] = [];
  const losses: LostLease[] = [];
  const requeued: Change[] = [];
  for (const change of changes) {
    const { row: lease, transition, atMs } = change;
    switch (transition.to) {
      case "succeeded":
        endings.push({ lease, status: "succeeded", output: transition.output, error: null, atMs });
        break;
      case "cancelled":
        endings.push(cancellation(change));
        break;
      case "failed":
        endings.push({
          lease,
          status: "failed",
          output: null,
          error: JSON.stringify(transition.error),
          atMs,
        });
        break;
      case "queued":
        requeued.push(change);
        if (transition.because === "lost") losses.push({ lease, ...transition });
        else retries.push({ lease, error: JSON.stringify(transition.error), dueAtMs: transition.dueAtMs });
    }
  }
  const kept = new Set<Lease>();
  for (const { lease } of yield* finishExecutions(endings)) kept.add(lease);
  for (const { lease } of yield* retryExecutions(retries)) kept.add(lease);
  for (const { lease } of yield* loseExecutions(losses)) kept.add(lease);
  const cancelled = new Set<Lease>();
  const rest = requeued.filter(({ row }) => !kept.has(row)).map(cancellation);
  for (const { lease } of yield* finishExecutions(rest)) cancelled.add(lease);
  const written = changes.map(({ row, transition }): Transition | null => {
    if (cancelled.has(row)) return { to: "cancelled" };
    return kept.has(row) ? transition : null;
  });
  const held = changes.flatMap((change, index): Change[] => {
    const transition = written[index] ?? null;
    return transition === null ? [] : [transition === change.transition ? change : { ...change, transition }];
  });
  for (const { row } of held) yield* notify("execution", row.execution_id);
  yield* insertAttempts(held.map(failedAttempt).filter((attempt) => attempt !== null));
  yield* insertLogs(held.map(logLine).filter((line) => line !== null));
  if (reportsFailures) yield* createAlerts(held.map(failure).filter((each) => each !== null));
  return written;
}

function cancellation({ row: lease, atMs }: Change): Ending {
  return { lease, status: "cancelled", output: null, error: null, atMs };
}

function failure({ row, transition, atMs }: Change): Failure | null {
  return transition.to === "failed" ? { row, error: transition.error, atMs } : null;
}

function* handBack(rows: readonly RunningExecution[]): Program<undefined[]> {
  yield* handBackExecutions(rows, Date.now());
  for (const id of new Set(rows.map((row) => row.deployment_id))) yield* notify("queued", id);
  return rows.map(() => undefined);
}

function failedAttempt({ row, transition, atMs }: Change): FailedAttempt | null {
  if (transition.to === "failed") {
    return { lease: row, error: JSON.stringify(transition.error), atMs, retryAtMs: null };
  }
  if (transition.to !== "queued" || transition.because === "lost") return null;
  return { lease: row, error: JSON.stringify(transition.error), atMs, retryAtMs: transition.dueAtMs };
}

/** The log line of a transition, or null for a success. */
function logLine({ row, transition, atMs }: Change): NewLog | null {
  const message = describe(row, transition, atMs);
  if (message === null) return null;
  return {
    org_id: row.org_id,
    at: atMs,
    level: transition.to === "failed" ? "error" : "warn",
    source: "execution",
    message,
    execution_id: row.execution_id,
    deployment_id: row.deployment_id,
    name: row.name,
    environment: row.environment,
  };
}

function describe(row: RunningExecution, transition: Transition, atMs: number): string | null {
  switch (transition.to) {
    case "succeeded":
      return null;
    case "cancelled":
      return `The ${row.kind} '${row.name}' was cancelled.`;
    case "failed":
      return `Attempt ${row.attempt} failed: ${oneLine(transition.error)}. There is no retry.`;
    case "queued": {
      const seconds = Math.max(0, (transition.dueAtMs - atMs) / 1000).toFixed(1);
      return transition.because === "retry"
        ? `Attempt ${row.attempt} failed: ${oneLine(transition.error)}. The next attempt is due in ${seconds} s.`
        : `Attempt ${row.attempt} was interrupted and will run again. ${transition.reason.replace(/\.?$/, ".")}`;
    }
  }
}

function oneLine(error: StoredError): string {
  return `${error.name}: ${error.message}`.replaceAll(/\s+/g, " ").replace(/\.$/, "");
}
