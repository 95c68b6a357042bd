/**
 * What workers do with executions. A claimed execution is held under a *lease*, a fence made of owner, attempt and
 * losses: whoever lost the lease can no longer change the row.
 */
import { all, first, type Program, run } from "./engine.ts";
import type { ExecutionRow } from "./executions.ts";

/** Names the claim under which a worker acts. */
export interface Lease {
  org_id: string;
  execution_id: string;
  lease_owner: string | null;
  attempt: number;
  losses: number;
}

/** A loose index scan: visits one entry per deployment that has something queued, however long its queue is. */
const SELECT_DUE_DEPLOYMENTS = `WITH RECURSIVE waiting (deployment_id) AS (
  SELECT MIN(deployment_id) FROM executions WHERE status = 'queued'
  UNION ALL
  SELECT (SELECT MIN(deployment_id) FROM executions WHERE status = 'queued' AND deployment_id > waiting.deployment_id)
  FROM waiting WHERE waiting.deployment_id IS NOT NULL
)
SELECT waiting.deployment_id,
  (SELECT MIN(due_at) FROM executions WHERE status = 'queued' AND deployment_id = waiting.deployment_id) AS due_at
FROM waiting WHERE waiting.deployment_id IS NOT NULL`;
const CLAIM = `UPDATE executions SET status = 'running', lease_owner = ?1, lease_until = ?2, started_at = ?3
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
const LOSE = `UPDATE executions SET status = 'queued', losses = losses + 1, alone = ?, due_at = ?, lease_owner = NULL,
  lease_until = NULL WHERE ${HELD} RETURNING execution_id`;
const EXTEND = "UPDATE executions SET lease_until = ? WHERE status = 'running' AND lease_owner = ?";
const HAND_BACK = `UPDATE executions SET status = 'queued', due_at = ?, started_at = NULL, lease_owner = NULL,
  lease_until = NULL WHERE ${HELD}`;
const SELECT_EXPIRED = `SELECT * FROM executions
WHERE status = 'running' AND lease_owner <> ? AND lease_until <= ? LIMIT ?`;
const SELECT_ORPHANED = "SELECT * FROM executions WHERE status = 'running' AND lease_owner <> ? LIMIT ?";
const INSERT_ATTEMPT = `INSERT INTO attempts (org_id, execution_id, attempt, started_at, finished_at, error, retry_at)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** Every deployment with something queued, and when the first of it is due. */
export function* listWaiting(): Program<{ deployment_id: string; due_at: number }[]> {
  return yield* all<{ deployment_id: string; due_at: number }>(SELECT_DUE_DEPLOYMENTS);
}

/** Takes up to `limit` due executions of a deployment under a lease. */
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

/** Ends an execution. False when the lease is no longer held: the result is late and discarded. */
export function* finishExecution(
  lease: Lease,
  status: "succeeded" | "failed" | "cancelled",
  output: string | null,
  error: string | null,
  nowMs: number,
): Program<boolean> {
  return (yield* first(FINISH, status, output, error, nowMs, ...held(lease))) !== undefined;
}

/** Puts a failed attempt back into the queue and keeps its error. False when the lease is no longer held. */
export function* retryExecution(
  lease: Lease & { started_at: number | null },
  error: string,
  dueAtMs: number,
  nowMs: number,
): Program<boolean> {
  if ((yield* first(RETRY, error, dueAtMs, ...held(lease))) === undefined) return false;
  yield* insertAttempt(lease, error, nowMs, dueAtMs);
  return true;
}

/** Keeps what became of an attempt; `retryAtMs` is null for the last one. */
export function* insertAttempt(
  lease: Lease & { started_at: number | null },
  error: string,
  nowMs: number,
  retryAtMs: number | null,
): Program<void> {
  yield* run(
    INSERT_ATTEMPT,
    lease.org_id,
    lease.execution_id,
    lease.attempt,
    lease.started_at,
    nowMs,
    error,
    retryAtMs,
  );
}

/** Puts an execution back whose worker was lost. That is not an attempt of the agent's. */
export function* loseExecution(lease: Lease, alone: boolean, dueAtMs: number): Program<boolean> {
  return (yield* first(LOSE, alone ? 1 : 0, dueAtMs, ...held(lease))) !== undefined;
}

export function* extendLeases(owner: string, untilMs: number): Program<void> {
  yield* run(EXTEND, untilMs, owner);
}

/** Puts back what a worker that shuts down has not finished; unlike a loss, this counts for nothing. */
export function* handBackExecution(lease: Lease, dueAtMs: number): Program<void> {
  yield* run(HAND_BACK, dueAtMs, ...held(lease));
}

/** Running executions of others whose lease ran out. A worker knows its own, however late its heartbeat is. */
export function* listExpired(owner: string, nowMs: number, limit: number): Program<ExecutionRow[]> {
  return yield* all<ExecutionRow>(SELECT_EXPIRED, owner, nowMs, limit);
}

/** Running executions of any owner but this one. */
export function* listOrphaned(owner: string, limit: number): Program<ExecutionRow[]> {
  return yield* all<ExecutionRow>(SELECT_ORPHANED, owner, limit);
}
