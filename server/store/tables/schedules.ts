/**
 * Schedules and their ticks. A schedule belongs to the name of a target in an environment and outlives the deployments
 * that define it. A tick is one due time of a schedule; its unique key prevents a second run.
 */
import type { TargetKind } from "../../../project/definition.ts";
import { all, each, first, type Program, run } from "../engine.ts";

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

export interface ScheduleKey {
  org_id: string;
  schedule_id: string;
}

/** A schedule and one of its due times. */
export interface TickKey extends ScheduleKey {
  due_at: number;
}

const SELECT_ALL = `SELECT * FROM schedules WHERE org_id = ?1 AND environment = ?2 AND deployment_id IS NOT NULL
ORDER BY name`;
const SELECT_OF_DEPLOYMENT = "SELECT * FROM schedules WHERE org_id = ?1 AND deployment_id = ?2";
const SELECT_BY_NAME = `SELECT * FROM schedules
WHERE org_id = ?1 AND environment = ?2 AND name = ?3 AND deployment_id IS NOT NULL`;
/** Another scheduler processes the schedules that it has locked. */
const SELECT_DUE = `SELECT * FROM schedules WHERE next_due_at <= ?1 ORDER BY next_due_at LIMIT ?2 FOR UPDATE SKIP LOCKED`;
const LOCK_OF_PROJECT = `SELECT * FROM schedules
WHERE org_id = ?1 AND environment = ?2 AND project = ?3 ORDER BY schedule_id FOR UPDATE`;
const LOCK_BY_ID = `SELECT schedules.* FROM schedules, ROWS(org_id text, schedule_id text) r
WHERE schedules.org_id = r.org_id AND schedules.schedule_id = r.schedule_id FOR UPDATE OF schedules SKIP LOCKED`;
const SELECT_RUNNABLE_PAGE = `SELECT * FROM schedules
WHERE next_due_at IS NOT NULL AND (org_id, schedule_id) > (?1, ?2) ORDER BY org_id, schedule_id LIMIT ?3`;
const SET_NEXT_DUE = `UPDATE schedules SET next_due_at = r.next_due_at
FROM ROWS(org_id text, schedule_id text, next_due_at int) r
WHERE schedules.org_id = r.org_id AND schedules.schedule_id = r.schedule_id`;
const SET_PAUSED =
  "UPDATE schedules SET paused = ?1, next_due_at = ?2 WHERE org_id = ?3 AND schedule_id = ?4";
const SELECT_OUTCOMES = `SELECT ticks.org_id, ticks.schedule_id, ticks.due_at, ticks.outcome
FROM ticks, ROWS(org_id text, schedule_id text, due_at int) r
WHERE ticks.org_id = r.org_id AND ticks.schedule_id = r.schedule_id AND ticks.due_at = r.due_at`;
/** A tick that was recorded as missed while the clock was ahead may still run at its time. */
const INSERT_TICKS = `INSERT INTO ticks (org_id, schedule_id, due_at, outcome, reason, execution_id, decided_at)
SELECT r.org_id, r.schedule_id, r.due_at, r.outcome, r.reason, r.execution_id, r.decided_at
FROM ROWS(org_id text, schedule_id text, due_at int, outcome text, reason text, execution_id text, decided_at int) r
WHERE true
ON CONFLICT (org_id, schedule_id, due_at) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason,
  execution_id = excluded.execution_id, decided_at = excluded.decided_at
  WHERE ticks.outcome = 'missed' AND excluded.outcome <> 'missed'
RETURNING ticks.org_id, ticks.schedule_id, ticks.due_at`;
const START_TICKS = `UPDATE ticks SET outcome = 'run', execution_id = r.execution_id, decided_at = ?1
FROM ROWS(org_id text, schedule_id text, due_at int, execution_id text) r
WHERE ticks.org_id = r.org_id AND ticks.schedule_id = r.schedule_id AND ticks.due_at = r.due_at
  AND ticks.outcome = 'waiting'
RETURNING ticks.org_id, ticks.schedule_id, ticks.due_at`;
const SKIP_TICKS = `UPDATE ticks SET outcome = 'skipped', reason = ?1, decided_at = ?2
FROM ROWS(org_id text, schedule_id text) r
WHERE ticks.org_id = r.org_id AND ticks.schedule_id = r.schedule_id AND ticks.outcome = 'waiting'`;
const SELECT_ACTIVE_RUNS = `SELECT executions.org_id, ticks.schedule_id, executions.execution_id
FROM ticks, executions, ROWS(org_id text, schedule_id text) r
WHERE ticks.org_id = r.org_id AND ticks.schedule_id = r.schedule_id AND ticks.outcome = 'run'
  AND ticks.due_at = (SELECT MAX(l.due_at) FROM ticks l
    WHERE l.org_id = r.org_id AND l.schedule_id = r.schedule_id AND l.outcome = 'run')
  AND executions.org_id = ticks.org_id AND executions.execution_id = ticks.execution_id
  AND executions.status IN ('queued', 'running')`;
const COUNT_WAITING = `SELECT ticks.org_id, ticks.schedule_id, COUNT(*) AS count
FROM ticks, ROWS(org_id text, schedule_id text) r
WHERE ticks.org_id = r.org_id AND ticks.schedule_id = r.schedule_id AND ticks.outcome = 'waiting'
GROUP BY ticks.org_id, ticks.schedule_id`;
const SELECT_READY = `SELECT * FROM (
  SELECT org_id, schedule_id, MIN(due_at) AS due_at FROM ticks WHERE outcome = 'waiting' GROUP BY org_id, schedule_id) w
WHERE NOT EXISTS (
  SELECT 1 FROM ticks t JOIN executions e ON e.org_id = t.org_id AND e.execution_id = t.execution_id
  WHERE t.org_id = w.org_id AND t.schedule_id = w.schedule_id AND e.status IN ('queued', 'running')
    AND t.due_at = (SELECT MAX(due_at) FROM ticks l
      WHERE l.org_id = w.org_id AND l.schedule_id = w.schedule_id AND l.outcome = 'run'))
OR NOT EXISTS (
  SELECT 1 FROM schedules s
  WHERE s.org_id = w.org_id AND s.schedule_id = w.schedule_id AND s.deployment_id IS NOT NULL AND s.paused = 0)
LIMIT ?1`;
const SELECT_TICKS = `SELECT t.*, e.status FROM ticks t
LEFT JOIN executions e ON e.org_id = t.org_id AND e.execution_id = t.execution_id
WHERE t.org_id = ?1 AND t.schedule_id = ?2 ORDER BY t.due_at DESC LIMIT ?3`;
const SELECT_LAST_TICKS = `SELECT ticks.*, (SELECT e.status FROM executions e
  WHERE e.org_id = ticks.org_id AND e.execution_id = ticks.execution_id) AS status
FROM ticks, ROWS(schedule_id text) r
WHERE ticks.org_id = ?1 AND ticks.schedule_id = r.schedule_id
  AND ticks.due_at = (SELECT MAX(l.due_at) FROM ticks l WHERE l.org_id = ?1 AND l.schedule_id = r.schedule_id)`;

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

/** Locks and returns due schedules, the earliest due time first, without those that another scheduler has locked. */
export function* lockDueSchedules(nowMs: number, limit: number): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_DUE, nowMs, limit);
}

/** Locks and returns the schedules of one project in an environment. */
export function* lockSchedulesOfProject(scope: {
  org_id: string;
  environment: string;
  project: string;
}): Program<ScheduleRow[]> {
  const { org_id, environment, project } = scope;
  return yield* all<ScheduleRow>(LOCK_OF_PROJECT, org_id, environment, project);
}

/** Locks and returns schedules, without those that another scheduler has locked. */
export function* lockSchedules(keys: readonly ScheduleKey[]): Program<ScheduleRow[]> {
  return yield* each<ScheduleRow>(LOCK_BY_ID, keys.map(valuesOf));
}

/** A page of all schedules with a due time, by key. */
export function* listRunnableSchedules(
  after: { orgId: string; scheduleId: string },
  limit: number,
): Program<ScheduleRow[]> {
  return yield* all<ScheduleRow>(SELECT_RUNNABLE_PAGE, after.orgId, after.scheduleId, limit);
}

export function* setNextDue(rows: readonly (ScheduleKey & { nextMs: number | null })[]): Program<void> {
  yield* each(
    SET_NEXT_DUE,
    rows.map((row) => [...valuesOf(row), row.nextMs]),
  );
}

export function* setPaused(
  orgId: string,
  scheduleId: string,
  paused: boolean,
  nextDueAtMs: number | null,
): Program<void> {
  yield* run(SET_PAUSED, paused ? 1 : 0, nextDueAtMs, orgId, scheduleId);
}

/** The outcomes of ticks that are recorded, by `tickId`. */
export function* recordedOutcomes(keys: readonly TickKey[]): Program<Map<string, TickOutcome>> {
  const rows = yield* each<TickKey & { outcome: TickOutcome }>(
    SELECT_OUTCOMES,
    keys.map((key) => [...valuesOf(key), key.due_at]),
  );
  return new Map(rows.map((row) => [tickId(row), row.outcome]));
}

/** Records ticks. @returns those that were not recorded before, by `tickId` */
export function* insertTicks(ticks: readonly (ScheduleKey & TickRow)[]): Program<Set<string>> {
  const rows = yield* each<TickKey>(
    INSERT_TICKS,
    ticks.map((tick) => [
      ...valuesOf(tick),
      tick.due_at,
      tick.outcome,
      tick.reason,
      tick.execution_id,
      tick.decided_at,
    ]),
  );
  return new Set(rows.map(tickId));
}

/** Turns waiting ticks into runs. @returns those that were still waiting, by `tickId` */
export function* startTicks(
  ticks: readonly (TickKey & { executionId: string })[],
  nowMs: number,
): Program<Set<string>> {
  const values = ticks.map((tick) => [...valuesOf(tick), tick.due_at, tick.executionId]);
  return new Set((yield* each<TickKey>(START_TICKS, values, nowMs)).map(tickId));
}

/** Skips all waiting ticks of schedules. */
export function* skipWaitingTicks(
  keys: readonly ScheduleKey[],
  reason: string,
  nowMs: number,
): Program<void> {
  yield* each(SKIP_TICKS, keys.map(valuesOf), reason, nowMs);
}

/** The latest runs of schedules that have not ended: their execution ids, by `scheduleKey`. */
export function* activeRuns(keys: readonly ScheduleKey[]): Program<Map<string, string>> {
  const rows = yield* each<ScheduleKey & { execution_id: string }>(SELECT_ACTIVE_RUNS, keys.map(valuesOf));
  return new Map(rows.map((row) => [scheduleKey(row), row.execution_id]));
}

/** The numbers of waiting ticks, by `scheduleKey`; schedules without any are absent. */
export function* countWaitingTicks(keys: readonly ScheduleKey[]): Program<Map<string, number>> {
  const rows = yield* each<ScheduleKey & { count: number }>(COUNT_WAITING, keys.map(valuesOf));
  return new Map(rows.map((row) => [scheduleKey(row), row.count]));
}

/** The oldest waiting tick of each schedule whose latest run has ended, or that is paused or removed. */
export function* listReadyTicks(limit: number): Program<TickKey[]> {
  return yield* all<TickKey>(SELECT_READY, limit);
}

/** The latest tick of each schedule, by schedule id. */
export function* lastTicks(
  orgId: string,
  scheduleIds: readonly string[],
): Program<Map<string, TickWithStatus>> {
  const rows = yield* each<TickWithStatus & { schedule_id: string }>(
    SELECT_LAST_TICKS,
    scheduleIds.map((id) => [id]),
    orgId,
  );
  return new Map(rows.map((row) => [row.schedule_id, row]));
}

/** The latest ticks, the newest first. */
export function* listTicks(orgId: string, scheduleId: string, limit: number): Program<TickWithStatus[]> {
  return yield* all<TickWithStatus>(SELECT_TICKS, orgId, scheduleId, limit);
}

/** Identifies a schedule in maps. */
export function scheduleKey({ org_id, schedule_id }: ScheduleKey): string {
  return `${org_id} ${schedule_id}`;
}

/** Identifies a tick in maps. */
export function tickId(key: TickKey): string {
  return `${scheduleKey(key)} ${key.due_at}`;
}

function valuesOf({ org_id, schedule_id }: ScheduleKey): [string, string] {
  return [org_id, schedule_id];
}
