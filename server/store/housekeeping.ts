/** Deletes expired rows. Each statement handles a small batch, so that transactions stay short. */
import { all, first, type Program, run } from "./engine.ts";

const SELECT_OLD_EXECUTIONS = `SELECT org_id, execution_id FROM executions
WHERE finished_at IS NOT NULL AND finished_at < ? LIMIT ?`;
const DELETE_EXECUTION = "DELETE FROM executions WHERE org_id = ? AND execution_id = ?";
const DELETE_ATTEMPTS = "DELETE FROM attempts WHERE org_id = ? AND execution_id = ?";
const DELETE_LOGS_OF = `DELETE FROM logs
WHERE org_id = ? AND execution_id = ? AND source IN ('console', 'execution')`;
const SELECT_ORGANIZATIONS = "SELECT org_id FROM organizations";
/** Entries are numbered nearly in the order of their times, so that only those with the lowest numbers are checked. */
const DELETE_OLD_LOGS = `DELETE FROM logs WHERE org_id = ?1 AND seq IN
  (SELECT seq FROM logs WHERE org_id = ?1 AND source NOT IN ('audit', 'console', 'execution') ORDER BY seq LIMIT ?3)
  AND at < ?2 RETURNING seq`;
const DELETE_OLD_TICKS = `DELETE FROM ticks WHERE (org_id, schedule_id, due_at) IN
  (SELECT org_id, schedule_id, due_at FROM ticks WHERE decided_at < ? AND outcome <> 'waiting' LIMIT ?) RETURNING due_at`;
const DELETE_OLD_UPLOADS = "DELETE FROM uploads WHERE expires_at < ?";
const UNUSED = `created_at < ?1 AND NOT EXISTS (
  SELECT 1 FROM deployments d WHERE d.org_id = o.org_id AND d.digest = o.digest
    AND (d.status <> 'deleted' OR EXISTS (SELECT 1 FROM deployment_events e WHERE e.org_id = d.org_id
      AND e.deployment_id = d.deployment_id AND e.event = 'deleted' AND e.at >= ?1)))
  AND NOT EXISTS (
  SELECT 1 FROM executions x JOIN deployments d ON d.org_id = x.org_id AND d.deployment_id = x.deployment_id
  WHERE x.status IN ('queued', 'running') AND d.org_id = o.org_id AND d.digest = o.digest)`;
const SELECT_UNUSED_OBJECTS = `SELECT org_id, digest FROM objects o WHERE ${UNUSED} LIMIT ?2`;
const SELECT_UNUSED_OBJECT = `SELECT digest FROM objects o WHERE ${UNUSED} AND o.org_id = ?2 AND o.digest = ?3`;
const DELETE_OBJECT = "DELETE FROM objects WHERE org_id = ? AND digest = ?";

/** Deletes finished executions with their logs and attempts. @returns their number */
export function* deleteOldExecutions(beforeMs: number, limit: number): Program<number> {
  const rows = yield* all<{ org_id: string; execution_id: string }>(SELECT_OLD_EXECUTIONS, beforeMs, limit);
  for (const { org_id, execution_id } of rows) {
    yield* run(DELETE_LOGS_OF, org_id, execution_id);
    yield* run(DELETE_ATTEMPTS, org_id, execution_id);
    yield* run(DELETE_EXECUTION, org_id, execution_id);
  }
  return rows.length;
}

/** Deletes old log entries of each organization except those of executions and the audit log. @returns the largest number of one organization */
export function* deleteOldLogs(beforeMs: number, limit: number): Program<number> {
  let largest = 0;
  for (const { org_id } of yield* all<{ org_id: string }>(SELECT_ORGANIZATIONS)) {
    largest = Math.max(largest, (yield* all(DELETE_OLD_LOGS, org_id, beforeMs, limit)).length);
  }
  return largest;
}

export function* deleteOldTicks(beforeMs: number, limit: number): Program<number> {
  return (yield* all(DELETE_OLD_TICKS, beforeMs, limit)).length;
}

export function* deleteOldUploads(beforeMs: number): Program<void> {
  yield* run(DELETE_OLD_UPLOADS, beforeMs);
}

/** Packages that no deployment has used since `beforeMs` and no execution needs. */
export function* listUnusedObjects(
  beforeMs: number,
  limit: number,
): Program<{ org_id: string; digest: string }[]> {
  return yield* all<{ org_id: string; digest: string }>(SELECT_UNUSED_OBJECTS, beforeMs, limit);
}

/** Deletes the row of a package. @returns false if a deployment uses it again */
export function* deleteUnusedObject(orgId: string, digest: string, beforeMs: number): Program<boolean> {
  const unused = yield* first(SELECT_UNUSED_OBJECT, beforeMs, orgId, digest);
  if (unused === undefined) return false;
  yield* run(DELETE_OBJECT, orgId, digest);
  return true;
}
