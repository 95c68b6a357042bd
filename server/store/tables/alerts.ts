/** Limits the alerts of each project and environment: `maxAlerts` in a window of a minute. */
import { first, type Program, run } from "../engine.ts";

export const maxAlerts = 10;
const windowMs = 60_000;

export interface AlertKey {
  orgId: string;
  project: string;
  environment: string;
}

interface WindowRow {
  started_at: number;
  sent: number;
  suppressed: number;
}

const INSERT = `INSERT INTO alert_windows (org_id, project, environment, started_at, sent, suppressed)
VALUES (?1, ?2, ?3, ?4, 0, 0) ON CONFLICT DO NOTHING`;
const LOCK = `SELECT started_at, sent, suppressed FROM alert_windows
WHERE org_id = ?1 AND project = ?2 AND environment = ?3 FOR UPDATE`;
const UPDATE = `UPDATE alert_windows SET started_at = ?4, sent = ?5, suppressed = ?6
WHERE org_id = ?1 AND project = ?2 AND environment = ?3`;
const DELETE_OLD = "DELETE FROM alert_windows WHERE started_at < ?1 AND suppressed = 0";

/**
 * Takes places for alerts.
 * @returns the number of alerts to send, and the failures since the last alert that got none
 */
export function* takeAlerts(
  { orgId, project, environment }: AlertKey,
  wanted: number,
  nowMs: number,
): Program<{ admitted: number; suppressed: number }> {
  yield* run(INSERT, orgId, project, environment, nowMs);
  const row = yield* first<WindowRow>(LOCK, orgId, project, environment);
  if (row === undefined) throw new Error("The window of alerts was not found.");
  // A window that has not begun: the clock was set back.
  const isOver = nowMs - row.started_at >= windowMs || nowMs < row.started_at;
  const sent = isOver ? 0 : row.sent;
  const admitted = Math.min(wanted, Math.max(0, maxAlerts - sent));
  const suppressed = (admitted > 0 ? 0 : row.suppressed) + wanted - admitted;
  const startedAt = isOver ? nowMs : row.started_at;
  yield* run(UPDATE, orgId, project, environment, startedAt, sent + admitted, suppressed);
  return { admitted, suppressed: admitted > 0 ? row.suppressed : 0 };
}

export function* deleteOldWindows(beforeMs: number): Program<void> {
  yield* run(DELETE_OLD, beforeMs);
}
