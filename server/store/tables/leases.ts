/**
 * Statements of workers. A worker holds a *lease* on each execution that it runs. Owner, attempt and losses identify the
 * lease: a worker that has lost it can no longer change the row.
 */
import { claimColumns, claimedColumns, named, returningChanged } from "../dialects/statements.ts";
import { all, each, first, notify, type Program, type SqlValue } from "../engine.ts";
import type { ExecutionRow } from "./executions.ts";

export interface Lease {
  org_id: string;
  execution_id: string;
  lease_owner: string | null;
  attempt: number;
  losses: number;
}

/** An execution that a worker runs. */
export type RunningExecution = Pick<ExecutionRow, (typeof claimedColumns | typeof claimColumns)[number]>;
type ClaimedRow = Pick<ExecutionRow, (typeof claimedColumns)[number]>;

/** The end of an execution. */
export interface Ending {
  lease: Lease;
  status: "succeeded" | "failed" | "cancelled";
  /** JSON text. */
  output: string | null;
  /** JSON text. */
  error: string | null;
  atMs: number;
}

/** A failed attempt that has a retry. */
export interface Retry {
  lease: Lease;
  /** JSON text. */
  error: string;
  dueAtMs: number;
}

/** The loss of a runner or worker. This is not an attempt. */
export interface LostLease {
  lease: Lease;
  /** Whether the loss counts towards giving up. */
  counts: boolean;
  alone: boolean;
  dueAtMs: number;
}

/** The response that the code of an execution has set. */
export interface NewResponse {
  lease: Lease;
  /** JSON text. */
  response: string;
}

export interface FailedAttempt {
  lease: Lease & { attempt_started_at: number | null };
  /** JSON text. */
  error: string;
  atMs: number;
  /** Null for the last one. */
  retryAtMs: number | null;
}

/** A loose index scan: it reads one entry per deployment that has queued executions, however many it has. */
const SELECT_DUE_DEPLOYMENTS = `WITH RECURSIVE waiting (deployment_id) AS (
  SELECT MIN(deployment_id) FROM executions WHERE status = 'queued'
  UNION ALL
  SELECT (SELECT MIN(deployment_id) FROM executions WHERE status = 'queued' AND deployment_id > waiting.deployment_id)
  FROM waiting WHERE waiting.deployment_id IS NOT NULL
)
SELECT waiting.deployment_id,
  (SELECT MIN(due_at) FROM executions WHERE status = 'queued' AND deployment_id = waiting.deployment_id) AS due_at
FROM waiting WHERE waiting.deployment_id IS NOT NULL`;
const SELECT_EARLIEST_DUE =
  "SELECT MIN(due_at) AS due_at FROM executions WHERE status = 'queued' AND deployment_id = ?1";
const SELECT_ORGANIZATION =
  "SELECT org_id FROM executions WHERE status = 'queued' AND deployment_id = ?1 LIMIT 1";
/** `at` is the index of the row in its row set. */
const LEASE_COLUMNS = "at int, org_id text, execution_id text, lease_owner text, attempt int, losses int";
const HELD = `executions.org_id = r.org_id AND executions.execution_id = r.execution_id AND executions.status = 'running'
  AND executions.lease_owner = r.lease_owner AND executions.attempt = r.attempt AND executions.losses = r.losses
${returningChanged}`;
const FINISH = `UPDATE executions SET status = r.status, output = r.output, error = r.error, finished_at = r.finished_at,
  lease_owner = NULL, lease_until = NULL
FROM ROWS(${LEASE_COLUMNS}, status text, output text, error text, finished_at int) r WHERE ${HELD}`;
const SET_RESPONSE = `UPDATE executions SET response = r.response
FROM ROWS(${LEASE_COLUMNS}, response text) r WHERE executions.response IS NULL AND ${HELD}`;
const RETRY = `UPDATE executions SET status = 'queued', attempt = executions.attempt + 1, error = r.error, due_at = r.due_at,
  lease_owner = NULL, lease_until = NULL
FROM ROWS(${LEASE_COLUMNS}, error text, due_at int) r WHERE executions.cancel_requested = 0 AND ${HELD}`;
const LOSE = `UPDATE executions SET status = 'queued', losses = executions.losses + 1,
  runner_losses = executions.runner_losses + r.counts, alone = r.alone, due_at = r.due_at, lease_owner = NULL,
  lease_until = NULL
FROM ROWS(${LEASE_COLUMNS}, counts int, alone int, due_at int) r WHERE executions.cancel_requested = 0 AND ${HELD}`;
const HAND_BACK = `UPDATE executions SET status = 'queued', due_at = ?1, lease_owner = NULL, lease_until = NULL
FROM ROWS(${LEASE_COLUMNS}) r WHERE ${HELD}`;
const EXTEND = `UPDATE executions SET lease_until = ?1 WHERE status = 'running' AND lease_owner = ?2
RETURNING execution_id, attempt, losses, cancel_requested`;
const SELECT_HELD = "SELECT 1 AS held FROM executions WHERE status = 'running' AND lease_owner = ?1 LIMIT 1";
const SELECT_CANCELLED =
  "SELECT execution_id FROM executions WHERE status = 'running' AND lease_owner = ?1 AND cancel_requested = 1";
const SELECT_EXPIRED_OWNERS = `SELECT DISTINCT lease_owner FROM executions
WHERE status = 'running' AND lease_owner <> ?1 AND lease_until <= ?2
  AND NOT EXISTS (SELECT 1 FROM executions current
    WHERE current.status = 'running' AND current.lease_owner = executions.lease_owner AND current.lease_until > ?2)`;
const SELECT_OTHER_OWNERS = `SELECT DISTINCT lease_owner FROM executions
WHERE status = 'running' AND lease_owner <> ?1`;
const SELECT_OF_OWNER = `SELECT ${[...claimedColumns, ...claimColumns].join(", ")} FROM executions
WHERE status = 'running' AND lease_owner = ?1 FOR UPDATE`;
const INSERT_ATTEMPTS = `INSERT INTO attempts (org_id, execution_id, attempt, started_at, finished_at, error, retry_at)
SELECT r.org_id, r.execution_id, r.attempt, r.started_at, r.finished_at, r.error, r.retry_at
FROM ROWS(org_id text, execution_id text, attempt int, started_at int, finished_at int, error text, retry_at int) r
WHERE true ON CONFLICT DO NOTHING`;

export interface WaitingDeployment {
  deployment_id: string;
  due_at: number;
}

export interface ExtendedLease {
  execution_id: string;
  attempt: number;
  losses: number;
  cancel_requested: number;
}

/** Lists the deployments that have queued executions, with the earliest due time of each. */
export function* listWaiting(): Program<WaitingDeployment[]> {
  return yield* all<WaitingDeployment>(SELECT_DUE_DEPLOYMENTS);
}

/** Returns the organization of a deployment that has queued executions. */
export function* organizationOfQueue(deploymentId: string): Program<string | undefined> {
  return (yield* first<{ org_id: string }>(SELECT_ORGANIZATION, deploymentId))?.org_id;
}

/** Returns the earliest due time of the queued executions of a deployment; null when there are none. */
export function* earliestDue(deploymentId: string): Program<number | null> {
  return (yield* first<{ due_at: number | null }>(SELECT_EARLIEST_DUE, deploymentId))?.due_at ?? null;
}

/** Claims up to `limit` due executions of a deployment. */
export function* claimExecutions(
  deploymentId: string,
  limit: number,
  owner: string,
  leaseUntilMs: number,
  nowMs: number,
): Program<RunningExecution[]> {
  const claim = named("claimExecutions");
  const rows = yield* all<ClaimedRow>(claim, owner, leaseUntilMs, nowMs, deploymentId, limit);
  for (const row of rows) yield* notify("execution", row.execution_id);
  return rows.map((row) => ({
    ...row,
    deployment_id: deploymentId,
    lease_owner: owner,
    lease_until: leaseUntilMs,
    attempt_started_at: nowMs,
  }));
}

/** Ends executions. @returns those whose leases were still held; late results are discarded */
export function* finishExecutions(endings: readonly Ending[]): Program<Ending[]> {
  return yield* changeHeld(FINISH, endings, ({ status, output, error, atMs }) => [
    status,
    output,
    error,
    atMs,
  ]);
}

/** Stores responses of running executions that have none. */
export function* setResponses(responses: readonly NewResponse[]): Program<undefined[]> {
  yield* changeHeld(SET_RESPONSE, responses, ({ response }) => [response]);
  for (const { lease } of responses) yield* notify("execution", lease.execution_id);
  return responses.map(() => undefined);
}

/**
 * Requeues executions after a failed attempt and keeps its error.
 * @returns those whose leases were held, and whose cancellation was not requested
 */
export function* retryExecutions(retries: readonly Retry[]): Program<Retry[]> {
  return yield* changeHeld(RETRY, retries, ({ error, dueAtMs }) => [error, dueAtMs]);
}

/**
 * Requeues executions whose runner or worker was lost.
 * @returns those whose leases were held, and whose cancellation was not requested
 */
export function* loseExecutions(losses: readonly LostLease[]): Program<LostLease[]> {
  return yield* changeHeld(LOSE, losses, ({ counts, alone, dueAtMs }) => [
    counts ? 1 : 0,
    alone ? 1 : 0,
    dueAtMs,
  ]);
}

/** Requeues executions that a worker has not finished when it shuts down. This is not a loss. */
export function* handBackExecutions(leases: readonly Lease[], dueAtMs: number): Program<void> {
  const changes = leases.map((lease) => ({ lease }));
  yield* changeHeld(HAND_BACK, changes, () => [], dueAtMs);
}

/** Records failed attempts. */
export function* insertAttempts(attempts: readonly FailedAttempt[]): Program<void> {
  yield* each(
    INSERT_ATTEMPTS,
    attempts.map(({ lease, error, atMs, retryAtMs }) => [
      lease.org_id,
      lease.execution_id,
      lease.attempt,
      lease.attempt_started_at,
      atMs,
      error,
      retryAtMs,
    ]),
  );
}

/** Extends all leases of a worker and returns them with their cancellation requests. */
export function* extendLeases(owner: string, untilMs: number): Program<ExtendedLease[]> {
  return yield* all<ExtendedLease>(EXTEND, untilMs, owner);
}

/** Whether a worker holds leases. */
export function* holdsLeases(owner: string): Program<boolean> {
  return (yield* all(SELECT_HELD, owner)).length > 0;
}

/** The executions of a worker whose cancellation was requested. */
export function* listCancelled(owner: string): Program<string[]> {
  return (yield* all<{ execution_id: string }>(SELECT_CANCELLED, owner)).map((row) => row.execution_id);
}

/**
 * Lists other workers all of whose leases have expired. A worker extends its leases together, but may claim while the write
 * that extends them waits. A worker's own leases are never listed.
 */
export function* listExpiredOwners(owner: string, nowMs: number): Program<string[]> {
  return (yield* all<{ lease_owner: string }>(SELECT_EXPIRED_OWNERS, owner, nowMs)).map(
    (row) => row.lease_owner,
  );
}

/** Lists all other workers that hold leases. */
export function* listOtherOwners(owner: string): Program<string[]> {
  return (yield* all<{ lease_owner: string }>(SELECT_OTHER_OWNERS, owner)).map((row) => row.lease_owner);
}

/** Locks and returns the running executions of a worker. */
export function* lockExecutionsOf(owner: string): Program<RunningExecution[]> {
  return yield* all<RunningExecution>(SELECT_OF_OWNER, owner);
}

/** @returns the changes whose leases were held */
function* changeHeld<Change extends { lease: Lease }>(
  sql: string,
  changes: readonly Change[],
  valuesOf: (change: Change) => SqlValue[],
  ...params: SqlValue[]
): Program<Change[]> {
  const rows = changes.map((change, at) => {
    const { org_id, execution_id, lease_owner, attempt, losses } = change.lease;
    return [at, org_id, execution_id, lease_owner, attempt, losses, ...valuesOf(change)];
  });
  const held = yield* each<{ at: number }>(sql, rows, ...params);
  return held.flatMap(({ at }) => changes[at] ?? []);
}
