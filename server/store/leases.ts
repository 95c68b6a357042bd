/**
 * Statements of workers. A worker holds a *lease* on each execution that it runs. Owner, attempt and losses identify the
 * lease: a worker that has lost it can no longer change the row.
 */
import { all, first, type Program, run } from "./engine.ts";
import type { ExecutionRow } from "./executions.ts";

export interface Lease {
  org_id: string;
  execution_id: string;
  lease_owner: string | null;
  attempt: number;
  losses: number;
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
const SELECT_ORGANIZATION =
  "SELECT org_id FROM executions WHERE status = 'queued' AND deployment_id = ? LIMIT 1";
/** `started_at` is the start of the first attempt. */
const CLAIM = `UPDATE executions SET status = 'running', lease_owner = ?1, lease_until = ?2,
  started_at = COALESCE(started_at, ?3), attempt_started_at = ?3
WHERE (org_id, execution_id) IN (
  SELECT org_id, execution_id FROM executions
  WHERE status = 'queued' AND deployment_id = ?4 AND due_at <= ?3 ORDER BY due_at LIMIT ?5)
RETURNING *`;
const HELD =
  "org_id = ? AND execution_id = ? AND status = 'running' AND lease_owner = ? AND attempt = ? AND losses = ?";
const FINISH = `UPDATE executions SET status = ?, output = ?, error = ?, finished_at = ?, lease_owner = NULL,
  lease_until = NULL WHERE ${HELD} RETURNING execution_id`;
const RETRY = `UPDATE executions SET status = 'queued', attempt = attempt + 1, error = ?, due_at = ?, lease_owner = NULL,
  lease_until = NULL WHERE ${HELD} RETURNING execution_id`;
const LOSE = `UPDATE executions SET status = 'queued', losses = losses + 1, runner_losses = runner_losses + ?,
  alone = ?, due_at = ?, lease_owner = NULL, lease_until = NULL WHERE ${HELD} RETURNING execution_id`;
const EXTEND = `UPDATE executions SET lease_until = ? WHERE status = 'running' AND lease_owner = ?
RETURNING execution_id, attempt, losses, cancel_requested`;
const HAND_BACK = `UPDATE executions SET status = 'queued', due_at = ?, lease_owner = NULL, lease_until = NULL
WHERE ${HELD}`;
/** A worker extends its leases together: when one has expired, the worker has lost all of them. */
const SELECT_EXPIRED = `SELECT *, COUNT(*) OVER (PARTITION BY lease_owner) AS held FROM executions
WHERE status = 'running' AND lease_owner IN (
  SELECT lease_owner FROM executions WHERE status = 'running' AND lease_owner <> ? AND lease_until <= ?) LIMIT ?`;
const SELECT_ORPHANED = `SELECT *, COUNT(*) OVER (PARTITION BY lease_owner) AS held FROM executions
WHERE status = 'running' AND lease_owner <> ? LIMIT ?`;
const INSERT_ATTEMPT = `INSERT INTO attempts (org_id, execution_id, attempt, started_at, finished_at, error, retry_at)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** Abandoned executions in one list. */
const batchSize = 1_000;

export interface WaitingDeployment {
  deployment_id: string;
  due_at: number;
}

/** An execution of a lost worker, with the number of executions that this worker held. */
export type AbandonedExecution = ExecutionRow & { held: number };

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

/** Claims up to `limit` due executions of a deployment. */
export function* claimExecutions(
  deploymentId: string,
  limit: number,
  owner: string,
  leaseUntilMs: number,
  nowMs: number,
): Program<ExecutionRow[]> {
  return yield* all<ExecutionRow>(CLAIM, owner, leaseUntilMs, nowMs, deploymentId, limit);
}

function held(lease: Lease): [string, string, string | null, number, number] {
  return [lease.org_id, lease.execution_id, lease.lease_owner, lease.attempt, lease.losses];
}

/** Ends an execution. False when the lease is no longer held: the late result is discarded. */
export function* finishExecution(
  lease: Lease,
  status: "succeeded" | "failed" | "cancelled",
  output: string | null,
  error: string | null,
  nowMs: number,
): Program<boolean> {
  return (yield* first(FINISH, status, output, error, nowMs, ...held(lease))) !== undefined;
}

/** Requeues an execution after a failed attempt and keeps its error. False when the lease is no longer held. */
export function* retryExecution(
  lease: Lease & { attempt_started_at: number | null },
  error: string,
  dueAtMs: number,
  nowMs: number,
): Program<boolean> {
  if ((yield* first(RETRY, error, dueAtMs, ...held(lease))) === undefined) return false;
  yield* insertAttempt(lease, error, nowMs, dueAtMs);
  return true;
}

/** Records a failed attempt. `retryAtMs` is null for the last one. */
export function* insertAttempt(
  lease: Lease & { attempt_started_at: number | null },
  error: string,
  nowMs: number,
  retryAtMs: number | null,
): Program<void> {
  yield* run(
    INSERT_ATTEMPT,
    lease.org_id,
    lease.execution_id,
    lease.attempt,
    lease.attempt_started_at,
    nowMs,
    error,
    retryAtMs,
  );
}

/**
 * Requeues an execution whose runner or worker was lost. This is not an attempt. False when the lease is no longer held.
 *
 * @param counts - whether the loss counts towards giving up
 */
export function* loseExecution(
  lease: Lease,
  counts: boolean,
  alone: boolean,
  dueAtMs: number,
): Program<boolean> {
  return (yield* first(LOSE, counts ? 1 : 0, alone ? 1 : 0, dueAtMs, ...held(lease))) !== undefined;
}

/** Extends all leases of a worker and returns them with their cancellation requests. */
export function* extendLeases(owner: string, untilMs: number): Program<ExtendedLease[]> {
  return yield* all<ExtendedLease>(EXTEND, untilMs, owner);
}

/** Requeues an execution that a worker has not finished when it shuts down. This is not a loss. */
export function* handBackExecution(lease: Lease, dueAtMs: number): Program<void> {
  yield* run(HAND_BACK, dueAtMs, ...held(lease));
}

/** Lists running executions of other workers that have lost their leases. A worker's own leases are never listed. */
export function* listExpired(owner: string, nowMs: number): Program<AbandonedExecution[]> {
  return yield* all<AbandonedExecution>(SELECT_EXPIRED, owner, nowMs, batchSize);
}

/** Lists running executions of all other workers. */
export function* listOrphaned(owner: string): Program<AbandonedExecution[]> {
  return yield* all<AbandonedExecution>(SELECT_ORPHANED, owner, batchSize);
}
