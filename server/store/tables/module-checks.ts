/**
 * Requests to load the modules of a new deployment. A process that runs no users' code writes a request; a worker claims
 * it under a lease and writes the result.
 */
import { all, first, notify, type Program, run } from "../engine.ts";

export interface ModuleCheckRequest {
  org_id: string;
  deployment_id: string;
  /** JSON text: paths in the package. */
  modules: string;
  /** JSON text: inputs to check against the schemas of modules, by module. */
  inputs: string | null;
  /** For each module. */
  timeout_ms: number;
  created_at: number;
}

export interface ModuleCheckRow extends ModuleCheckRequest {
  /** Null until a worker claims the request. */
  owner: string | null;
  lease_until: number | null;
  /** JSON text; null until the modules are checked. */
  result: string | null;
}

const INSERT = `INSERT INTO module_checks (org_id, deployment_id, modules, inputs, timeout_ms, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)`;
const SELECT = "SELECT * FROM module_checks WHERE org_id = ?1 AND deployment_id = ?2";
const OPEN = "result IS NULL AND (lease_until IS NULL OR lease_until <= ?1)";
const COUNT_OPEN = `SELECT COUNT(*) AS count FROM module_checks WHERE ${OPEN}`;
const CLAIM = `UPDATE module_checks SET owner = ?2, lease_until = ?3 WHERE (org_id, deployment_id) IN (
  SELECT org_id, deployment_id FROM module_checks WHERE ${OPEN} ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING *`;
const EXTEND = `UPDATE module_checks SET lease_until = ?1
WHERE org_id = ?2 AND deployment_id = ?3 AND owner = ?4 AND result IS NULL`;
const FINISH = `UPDATE module_checks SET result = ?1
WHERE org_id = ?2 AND deployment_id = ?3 AND owner = ?4 AND result IS NULL`;
const DELETE = "DELETE FROM module_checks WHERE org_id = ?1 AND deployment_id = ?2";
const DELETE_OLD = "DELETE FROM module_checks WHERE created_at < ?1";

export function* requestCheck(request: ModuleCheckRequest): Program<void> {
  const { org_id, deployment_id, modules, inputs, timeout_ms, created_at } = request;
  yield* run(INSERT, org_id, deployment_id, modules, inputs, timeout_ms, created_at);
  yield* notify("check", deployment_id);
}

export function* getCheck(orgId: string, deploymentId: string): Program<ModuleCheckRow | undefined> {
  return yield* first<ModuleCheckRow>(SELECT, orgId, deploymentId);
}

/** Whether a request waits for a worker. */
export function* hasOpenCheck(nowMs: number): Program<boolean> {
  return ((yield* first<{ count: number }>(COUNT_OPEN, nowMs))?.count ?? 0) > 0;
}

/** Claims the oldest request that no worker handles. */
export function* claimCheck(
  owner: string,
  leaseUntilMs: number,
  nowMs: number,
): Program<ModuleCheckRow | undefined> {
  return (yield* all<ModuleCheckRow>(CLAIM, nowMs, owner, leaseUntilMs))[0];
}

export function* extendCheck(row: ModuleCheckRow, leaseUntilMs: number): Program<void> {
  yield* run(EXTEND, leaseUntilMs, row.org_id, row.deployment_id, row.owner);
}

/** Writes the result. It has no effect when another worker has claimed the request. */
export function* finishCheck(row: ModuleCheckRow, result: string): Program<void> {
  yield* run(FINISH, result, row.org_id, row.deployment_id, row.owner);
  yield* notify("check", row.deployment_id);
}

export function* deleteCheck(orgId: string, deploymentId: string): Program<void> {
  yield* run(DELETE, orgId, deploymentId);
}

/** Deletes requests whose process has ended. */
export function* deleteOldChecks(beforeMs: number): Program<void> {
  yield* run(DELETE_OLD, beforeMs);
}
