/**
 * Schedules and their ticks. A schedule belongs to the name of a target in an environment and outlives the deployments
 * that define it. A tick is one due time of a schedule; its unique key prevents a second run.
 */
import type { TargetKind } from "../../project/definition.ts";
import { all, first, type Program, run } from "./engine.ts";

export interface ScheduleRow {
  org_id: string;
  schedule_id: string;
  environment: string;
  kind: TargetKind;
  name: string;
  project: string;
  /** Null if no active deployment defines the schedule. */
  deployment_id: string | null;
  /** JSON of a ScheduleDefinition. */
  definition: string;
  paused: number;
  next_due_at: number | null;
}

type TickOutcome = "run" | "waiting" | "skipped" | "missed";

export interface TickRow {
  due_at: number;
  outcome: TickOutcome;
  reason: string;
  execution_id: string | null;
  decided_at: number;
}

export interface TickWithStatus extends TickRow {
  /** Status of the execution. Null if there is none or it was deleted. */
  status: string | null;
}

const SELECT_ALL = `SELECT * FROM schedules WHERE org_id = ? AND environment = ? AND deployment_id IS NOT NULL
ORDER BY name`;
const SELECT_OF_DEPLOYMENT = "SELECT * FROM schedules WHERE org_id = ? AND deployment_id = ?";
const SELECT_BY_NAME = `SELECT * FROM schedules
WHERE org_id = ? AND environment = ? AND name = ? AND deployment_id IS NOT NULL`;
const SELECT_DUE = "SELECT * FROM schedules WHERE next_due_at <= ? ORDER BY next_due_at LIMIT ?";
const SELECT_DUE_OF_PROJECT = `SELECT * FROM schedules
WHERE org_id = ? AND environment = ? AND project = ? AND next_due_at <= ?`;
const SELECT_RUNNABLE_PAGE = `SELECT * FROM schedules
WHERE next_due_at IS NOT NULL AND (org_id, schedule_id) > (?, ?) ORDER BY org_id, schedule_id LIMIT ?`;
const SET_NEXT_DUE = "UPDATE schedules SET next_due_at = ? WHERE org_id = ? AND schedule_id = ?";
const SET_PAUSED = "UPDATE schedules SET paused = ?, next_due_at = ? WHERE org_id = ? AND schedule_id = ?";
/** A tick that was recorded as missed while the clock was ahead may still run at its time. */
const INSERT_TICK = `INSERT INTO ticks (org_id, schedule_id, due_at, outcome, reason, execution_id, decided_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org_id, schedule_id, due_at) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason,
  execution_id = excluded.execution_id, decided_at = excluded.decided_at
  WHERE ticks.outcome = 'missed' AND excluded.outcome <> 'missed'
RETURNING due_at`;
const START_TICK = `UPDATE ticks SET outcome = 'run', execution_id = ?, decided_at = ?
WHERE org_id = ? AND schedule_id = ? AND due_at = ? AND outcome = 'waiting' RETURNING due_at`;
const SKIP_TICK = `UPDATE ticks SET outcome = 'skipped', reason = ?, decided_at = ?
WHERE org_id = ? AND schedule_id = ? AND outcome = 'waiting'`;
const SELECT_ACTIVE_RUN = `SELECT e.execution_id FROM executions e
JOIN (SELECT org_id, execution_id FROM ticks WHERE org_id = ?1 AND schedule_id = ?2 AND outcome = 'run'
  ORDER BY due_at DESC LIMIT 1) t ON t.org_id = e.org_id AND t.execution_id = e.execution_id
WHERE e.status IN ('queued', 'running')`;
const SELECT_READY = `SELECT * FROM (
  SELECT org_id, schedule_id, MIN(due_at) AS due_at FROM ticks WHERE outcome = 'waiting' GROUP BY org_id, schedule_id) w
WHERE NOT EXISTS (
  SELECT 1 FROM ticks r JOIN executions e ON e.org_id = r.org_id AND e.execution_id = r.execution_id
  WHERE r.org_id = w.org_id AND r.schedule_id = w.schedule_id AND e.status IN ('queued', 'running')
    AND r.due_at = (SELECT MAX(due_at) FROM ticks l
      WHERE l.org_id = w.org_id AND l.schedule_id = w.schedule_id AND l.outcome = 'run'))
OR NOT EXISTS (
  SELECT 1 FROM schedules s
  WHERE s.org_id = w.org_id AND s.schedule_id = w.schedule_id AND s.deployment_id IS NOT NULL AND s.paused = 0)
LIMIT ?`;
const COUNT_WAITING = `SELECT COUNT(*) AS count FROM ticks
WHERE org_id = ? AND schedule_id = ? AND outcome = 'waiting'`;
const SELECT_BY_ID = "SELECT * FROM schedules WHERE org_id = ? AND schedule_id = ?";
const SELECT_TICKS = `SELECT t.*, e.status FROM ticks t
LEFT JOIN executions e ON e.org_id = t.org_id AND e.execution_id = t.execution_id
WHERE t.org_id = ? AND t.schedule_id = ? ORDER BY t.due_at DESC LIMIT ?`;

export function* listSchedules(orgId: string, environment: string): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_ALL, orgId, environment);
}

export function* listSchedulesOf(orgId: string, deploymentId: string): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_OF_DEPLOYMENT, orgId, deploymentId);
}

export function* getSchedule(
  orgId: string,
  environment: string,
  name: string,
): Program<ScheduleRow | undefined> {
  return yield* first<ScheduleRow>(SELECT_BY_NAME, orgId, environment, name);
}

export function* getScheduleById(orgId: string, scheduleId: string): Program<ScheduleRow | undefined> {
  return yield* first<ScheduleRow>(SELECT_BY_ID, orgId, scheduleId);
}

/** Due schedules, the earliest due time first. Schedules that are not due cost nothing: an index finds the due ones. */
export function* listDueSchedules(nowMs: number, limit: number): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_DUE, nowMs, limit);
}

/** Due schedules of one project in an environment. */
export function* listDueOfProject(
  scope: { org_id: string; environment: string; project: string },
  nowMs: number,
): Program<ScheduleRow[]> {
  const { org_id, environment, project } = scope;
  return yield* all<ScheduleRow>(SELECT_DUE_OF_PROJECT, org_id, environment, project, nowMs);
}

/** A page of all schedules with a due time, by key. */
export function* listRunnableSchedules(
  after: { orgId: string; scheduleId: string },
  limit: number,
): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_RUNNABLE_PAGE, after.orgId, after.scheduleId, limit);
}

export function* setNextDue(orgId: string, scheduleId: string, dueAtMs: number | null): Program<void> {
  yield* run(SET_NEXT_DUE, dueAtMs, orgId, scheduleId);
}

export function* setPaused(
  orgId: string,
  scheduleId: string,
  paused: boolean,
  nextDueAtMs: number | null,
): Program<void> {
  yield* run(SET_PAUSED, paused ? 1 : 0, nextDueAtMs, orgId, scheduleId);
}

/** Records a tick. @returns false if it was recorded before */
export function* insertTick(
  schedule: { org_id: string; schedule_id: string },
  tick: TickRow,
): Program<boolean> {
  const { due_at, outcome, reason, execution_id, decided_at } = tick;
  const { org_id, schedule_id } = schedule;
  const row = yield* first(
    INSERT_TICK,
    org_id,
    schedule_id,
    due_at,
    outcome,
    reason,
    execution_id,
    decided_at,
  );
  return row !== undefined;
}

/** Turns a waiting tick into a run. @returns false if it does not wait any more */
export function* startTick(
  schedule: { org_id: string; schedule_id: string },
  dueAtMs: number,
  executionId: string,
  nowMs: number,
): Program<boolean> {
  return (
    (yield* first(START_TICK, executionId, nowMs, schedule.org_id, schedule.schedule_id, dueAtMs)) !==
    undefined
  );
}

/** Skips all waiting ticks of a schedule. */
export function* skipWaitingTicks(
  schedule: { org_id: string; schedule_id: string },
  reason: string,
  nowMs: number,
): Program<void> {
  yield* run(SKIP_TICK, reason, nowMs, schedule.org_id, schedule.schedule_id);
}

/** The execution id of the latest run of a schedule. Null if that run has ended. */
export function* getActiveRunId(orgId: string, scheduleId: string): Program<string | null> {
  return (yield* first<{ execution_id: string }>(SELECT_ACTIVE_RUN, orgId, scheduleId))?.execution_id ?? null;
}

/** The oldest waiting tick of each schedule whose latest run has ended, or that is paused or removed. */
export function* listReadyTicks(
  limit: number,
): Program<{ org_id: string; schedule_id: string; due_at: number }[]> {
  return yield* all<{ org_id: string; schedule_id: string; due_at: number }>(SELECT_READY, limit);
}

export function* countWaitingTicks(orgId: string, scheduleId: string): Program<number> {
  return (yield* first<{ count: number }>(COUNT_WAITING, orgId, scheduleId))?.count ?? 0;
}

/** The latest ticks, the newest first. */
export function* listTicks(orgId: string, scheduleId: string, limit: number): Program<TickWithStatus[]> {
  return yield* all<TickWithStatus>(SELECT_TICKS, orgId, scheduleId, limit);
}
