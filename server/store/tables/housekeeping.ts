/** Deletes expired rows; `expired-executions.ts` those of executions. Each statement handles a small batch, so that transactions stay short. */
import { named } from "../dialects/statements.ts";
import { all, each, first, type Program, run } from "../engine.ts";

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

/**
 * Deletes old log entries of each organization except those of executions and the audit log.
 * @returns the largest number of one organization
 */
export function* deleteOldLogs(beforeMs: number, limit: number, nowMs: number): Program<number> {
  const organizations = yield* all<{ org_id: string }>(SELECT_ORGANIZATIONS);
  const ids = organizations.map(({ org_id }) => [org_id]);
  const counts = new Map<string, number>();
  for (const { org_id } of yield* each<{ org_id: string }>(
    named("deleteOldLogs"),
    ids,
    beforeMs,
    limit,
    nowMs,
  )) {
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
