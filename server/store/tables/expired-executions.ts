/**
 * Deletes finished executions with their logs and attempts. A transaction deletes a limited number of log entries, of which
 * an execution may have thousands: executions with further ones remain until the next call.
 */
import { all, each, type Program } from "../engine.ts";

/** The result of a child execution is kept until its parent has ended, because a retry of the parent needs it. */
const NO_OPEN_PARENT = `NOT EXISTS (SELECT 1 FROM executions p
  WHERE p.org_id = e.org_id AND p.execution_id = e.parent_execution_id AND p.finished_at IS NULL)`;
const SELECT_OLD = `SELECT e.org_id, e.execution_id FROM executions e
WHERE e.finished_at IS NOT NULL AND e.finished_at < ?1 AND ${NO_OPEN_PARENT} LIMIT ?2 FOR UPDATE SKIP LOCKED`;
const SELECT_PAGE = `SELECT execution_id, environment, kind, name, finished_at FROM executions
WHERE org_id = ?1 AND execution_id < ?2 ORDER BY execution_id DESC LIMIT ?3`;
const SELECT_SURPLUS = `SELECT e.org_id, e.execution_id FROM executions e, ROWS(execution_id text) r
WHERE e.org_id = ?1 AND e.execution_id = r.execution_id AND ${NO_OPEN_PARENT} FOR UPDATE OF e SKIP LOCKED`;
const KEYS = "ROWS(org_id text, execution_id text) r";
const LOGS = `logs.org_id = r.org_id AND logs.execution_id = r.execution_id AND logs.source IN ('console', 'execution')`;
/** The first ?1 entries of each execution. */
const DELETE_LOGS = `DELETE FROM logs INDEXED BY logs_of_execution USING ${KEYS}
WHERE ${LOGS} AND logs.seq < COALESCE((SELECT l.seq FROM logs l INDEXED BY logs_of_execution
  WHERE ${LOGS.replaceAll("logs.", "l.")} ORDER BY l.seq LIMIT 1 OFFSET ?1), 9223372036854775807)`;
const DELETE_EXECUTIONS = `DELETE FROM executions USING ${KEYS}
WHERE executions.org_id = r.org_id AND executions.execution_id = r.execution_id AND NOT EXISTS (
  SELECT 1 FROM logs INDEXED BY logs_of_execution WHERE ${LOGS})
RETURNING executions.org_id AS org_id, executions.execution_id AS execution_id`;
const DELETE_ATTEMPTS = `DELETE FROM attempts USING ${KEYS}
WHERE attempts.org_id = r.org_id AND attempts.execution_id = r.execution_id`;

interface ExecutionKey {
  org_id: string;
  execution_id: string;
}

/** What a transaction deletes at most. */
export interface DeletionLimits {
  executions: number;
  /** Entries of the log. */
  logs: number;
}

/** Deletes executions that finished before a time. @returns whether there may be more */
export function* deleteOldExecutions(beforeMs: number, limits: DeletionLimits): Program<boolean> {
  const keys = yield* all<ExecutionKey>(SELECT_OLD, beforeMs, limits.executions);
  const isComplete = yield* deleteWithDetails(keys, limits.logs);
  return !isComplete || keys.length === limits.executions;
}

/** Deletes some finished executions. @returns whether some have further log entries, and remain */
export function* deleteSurplusExecutions(
  orgId: string,
  ids: readonly string[],
  maxLogs: number,
): Program<boolean> {
  const rows = ids.map((id) => [id]);
  return !(yield* deleteWithDetails(yield* each<ExecutionKey>(SELECT_SURPLUS, rows, orgId), maxLogs));
}

/** @returns false when some have further log entries */
function* deleteWithDetails(keys: readonly ExecutionKey[], maxLogs: number): Program<boolean> {
  if (keys.length === 0) return true;
  yield* each(DELETE_LOGS, keys.map(valuesOf), Math.ceil(maxLogs / keys.length));
  const deleted = yield* each<ExecutionKey>(DELETE_EXECUTIONS, keys.map(valuesOf));
  yield* each(DELETE_ATTEMPTS, deleted.map(valuesOf));
  return deleted.length === keys.length;
}

function valuesOf({ org_id, execution_id }: ExecutionKey): string[] {
  return [org_id, execution_id];
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
