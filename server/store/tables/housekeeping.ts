/** Deletes expired rows. Each statement handles a small batch, so that transactions stay short. */
import { named } from "../dialects/statements.ts";
import { all, each, first, type Program, run } from "../engine.ts";

const DELETE_OLD_EXECUTIONS = `DELETE FROM executions WHERE (org_id, execution_id) IN (
  SELECT org_id, execution_id FROM executions WHERE finished_at IS NOT NULL AND finished_at < ?1 LIMIT ?2
  FOR UPDATE SKIP LOCKED)
RETURNING org_id, execution_id`;
const SELECT_PAGE = `SELECT execution_id, environment, kind, name, finished_at FROM executions
WHERE org_id = ?1 AND execution_id < ?2 ORDER BY execution_id DESC LIMIT ?3`;
/** The result of a child execution is kept until its parent has ended, because a retry of the parent needs it. */
const DELETE_SURPLUS = `DELETE FROM executions USING ROWS(org_id text, execution_id text) r
WHERE executions.org_id = r.org_id AND executions.execution_id = r.execution_id AND NOT EXISTS (
  SELECT 1 FROM executions p WHERE p.org_id = executions.org_id
    AND p.execution_id = executions.parent_execution_id AND p.finished_at IS NULL)
RETURNING executions.org_id AS org_id, executions.execution_id AS execution_id`;
const DELETE_ATTEMPTS = `DELETE FROM attempts USING ROWS(org_id text, execution_id text) r
WHERE attempts.org_id = r.org_id AND attempts.execution_id = r.execution_id`;
const DELETE_LOGS_OF = `DELETE FROM logs INDEXED BY logs_of_execution USING ROWS(org_id text, execution_id text) r
WHERE logs.org_id = r.org_id AND logs.execution_id = r.execution_id AND logs.source IN ('console', 'execution')`;
const SELECT_ORGANIZATIONS = "SELECT org_id FROM organizations";
const DELETE_OLD_TICKS = `DELETE FROM ticks WHERE (org_id, schedule_id, due_at) IN (
  SELECT org_id, schedule_id, due_at FROM ticks WHERE decided_at < ?1 AND outcome <> 'waiting' LIMIT ?2
  FOR UPDATE SKIP LOCKED)
RETURNING due_at`;
const DELETE_OLD_UPLOADS = "DELETE FROM uploads WHERE expires_at < ?1";
const UNUSED = `o.created_at < ?1 AND NOT EXISTS (
  SELECT 1 FROM deployments d WHERE d.org_id = o.org_id AND d.digest = o.digest
    AND (d.status <> 'deleted' OR EXISTS (SELECT 1 FROM deployment_events e WHERE e.org_id = d.org_id
      AND e.deployment_id = d.deployment_id AND e.event = 'deleted' AND e.at >= ?1)))
  AND NOT EXISTS (
  SELECT 1 FROM executions x JOIN deployments d ON d.org_id = x.org_id AND d.deployment_id = x.deployment_id
  WHERE x.status IN ('queued', 'running') AND d.org_id = o.org_id AND d.digest = o.digest)`;
/** Those that another process began to delete a while ago are included, because that process may have ended. */
const SELECT_UNUSED_OBJECTS = `SELECT org_id, digest FROM objects AS o
WHERE deleting_at < ?3 OR (deleting_at IS NULL AND ${UNUSED}) LIMIT ?2`;
const MARK_OBJECT = `UPDATE objects AS o SET deleting_at = ?4
WHERE o.org_id = ?2 AND o.digest = ?3 AND (deleting_at < ?5 OR (deleting_at IS NULL AND ${UNUSED})) RETURNING digest`;
const DELETE_OBJECT = "DELETE FROM objects WHERE org_id = ?1 AND digest = ?2 AND deleting_at IS NOT NULL";

/** After this time, another process repeats a deletion. Longer than any request to the storage takes. */
const deletionMs = 900_000;

interface ExecutionKey {
  org_id: string;
  execution_id: string;
}

/** Deletes finished executions with their logs and attempts. @returns their number */
export function* deleteOldExecutions(beforeMs: number, limit: number): Program<number> {
  return yield* deleteDetails(yield* all<ExecutionKey>(DELETE_OLD_EXECUTIONS, beforeMs, limit));
}

/** Deletes some finished executions with their logs and attempts. @returns their number */
export function* deleteSurplusExecutions(orgId: string, ids: readonly string[]): Program<number> {
  const keys = ids.map((id) => [orgId, id]);
  return yield* deleteDetails(yield* each<ExecutionKey>(DELETE_SURPLUS, keys));
}

function* deleteDetails(rows: readonly ExecutionKey[]): Program<number> {
  const keys = rows.map(({ org_id, execution_id }) => [org_id, execution_id]);
  yield* each(DELETE_LOGS_OF, keys);
  yield* each(DELETE_ATTEMPTS, keys);
  return rows.length;
}

export interface ExecutionOfTarget {
  execution_id: string;
  environment: string;
  kind: string;
  name: string;
  finished_at: number | null;
}

/** Executions of an organization from before an id, the newest first. */
export function* listExecutionsBefore(
  orgId: string,
  beforeId: string,
  limit: number,
): Program<ExecutionOfTarget[]> {
  return yield* all<ExecutionOfTarget>(SELECT_PAGE, orgId, beforeId, limit);
}

/** Deletes old log entries of each organization except those of executions and the audit log. @returns the largest number of one organization */
export function* deleteOldLogs(beforeMs: number, limit: number): Program<number> {
  const organizations = yield* all<{ org_id: string }>(SELECT_ORGANIZATIONS);
  const ids = organizations.map(({ org_id }) => [org_id]);
  const counts = new Map<string, number>();
  for (const { org_id } of yield* each<{ org_id: string }>(named("deleteOldLogs"), ids, beforeMs, limit)) {
    counts.set(org_id, (counts.get(org_id) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

export function* deleteOldTicks(beforeMs: number, limit: number): Program<number> {
  return (yield* all(DELETE_OLD_TICKS, beforeMs, limit)).length;
}

export function* deleteOldUploads(beforeMs: number): Program<void> {
  yield* run(DELETE_OLD_UPLOADS, beforeMs);
}

/** Packages that no deployment has used since `beforeMs` and no execution needs, and unfinished deletions. */
export function* listUnusedObjects(
  beforeMs: number,
  limit: number,
  nowMs: number,
): Program<{ org_id: string; digest: string }[]> {
  return yield* all(SELECT_UNUSED_OBJECTS, beforeMs, limit, nowMs - deletionMs);
}

/** Begins the deletion of a package: it can no longer be deployed. @returns false if it is used again */
export function* beginDeletion(
  orgId: string,
  digest: string,
  beforeMs: number,
  nowMs: number,
): Program<boolean> {
  const marked = yield* first(MARK_OBJECT, beforeMs, orgId, digest, nowMs, nowMs - deletionMs);
  return marked !== undefined;
}

/** Deletes the row of a package after its object was deleted. It can then be stored again. */
export function* finishDeletion(orgId: string, digest: string): Program<void> {
  yield* run(DELETE_OBJECT, orgId, digest);
}
