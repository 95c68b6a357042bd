/** Database programs that process ticks. A tick is recorded, and its execution queued, in one transaction. */
import { type ScheduleDefinition, scheduledTarget } from "../../project/definition.ts";
import { orderedId } from "../ids.ts";
import type { Program } from "../store/engine.ts";
import { parseStored } from "../store/tables/json.ts";
import { insertLogs, type NewLog } from "../store/tables/logs.ts";
import { insertExecutions, type NewExecution } from "../store/tables/new-executions.ts";
import {
  activeRuns,
  countWaitingTicks,
  insertTicks,
  listReadyTicks,
  lockDueSchedules,
  lockSchedules,
  lockSchedulesOfProject,
  recordedOutcomes,
  type ScheduleRow,
  scheduleKey,
  setNextDue,
  skipWaitingTicks,
  startTicks,
  type TickRow,
  tickId,
} from "../store/tables/schedules.ts";
import { type PlannedTick, planTicks } from "./plan.ts";

/** Schedules processed in one transaction. At 0.2 ms each, and 2 ms after a long outage, this bounds event loop blocking. */
export const batchSize = 50;
/** Ticks of one schedule that may wait (overlap `queue`). */
const maxWaiting = 100;

/** A due schedule and the ticks that are planned for it. */
interface Due {
  row: ScheduleRow;
  definition: ScheduleDefinition;
  ticks: PlannedTick[];
  nextMs: number | null;
}

/** A decided tick, with the row and the log line that it causes. */
interface Decision {
  tick: TickRow;
  execution: NewExecution | null;
  line: NewLog | null;
}

/** Processes the due ticks of up to `batchSize` schedules; returns the number of schedules and the decided ticks. */
export function* processDueTicks(
  nowMs: number,
  awakeSinceMs: number,
): Program<{ schedules: number; ticks: TickRow[] }> {
  const rows = yield* lockDueSchedules(nowMs, batchSize);
  return { schedules: rows.length, ticks: yield* processSchedules(rows, nowMs, awakeSinceMs) };
}

/**
 * Processes the due ticks of one project. Every program that changes the schedules of a project calls this first, because
 * ticks that became due since the last pass would otherwise be lost.
 */
export function* processDueTicksOfProject(
  scope: { org_id: string; environment: string; project: string },
  nowMs: number,
): Program<void> {
  const rows = yield* lockSchedulesOfProject(scope);
  const due = rows.filter(({ next_due_at }) => next_due_at !== null && next_due_at <= nowMs);
  yield* processSchedules(due, nowMs, nowMs);
}

function* processSchedules(
  rows: readonly ScheduleRow[],
  nowMs: number,
  awakeSinceMs: number,
): Program<TickRow[]> {
  if (rows.length === 0) return [];
  const due = rows.map((row): Due => {
    const definition = parseStored<ScheduleDefinition>(row.definition);
    return { row, definition, ...planTicks(definition, row.next_due_at ?? nowMs, nowMs, awakeSinceMs) };
  });
  const planned = due.flatMap(({ row: { org_id, schedule_id }, ticks }) =>
    ticks.map(({ dueMs }) => ({ org_id, schedule_id, due_at: dueMs })),
  );
  const recorded = yield* recordedOutcomes(planned);
  const limited = due.filter(({ definition }) => definition.overlap !== "allow").map(({ row }) => row);
  const active = yield* activeRuns(limited);
  const queueing = due.filter(({ definition }) => definition.overlap === "queue").map(({ row }) => row);
  const waiting = yield* countWaitingTicks(queueing);
  const decisions = due.flatMap((schedule) => {
    const key = scheduleKey(schedule.row);
    // A tick that was recorded as missed while the clock was ahead may still run at its time.
    const isNew = ({ dueMs, outcome }: PlannedTick): boolean => {
      const before = recorded.get(tickId({ ...schedule.row, due_at: dueMs }));
      return before === undefined || (before === "missed" && outcome === "run");
    };
    const state = { activeId: active.get(key) ?? null, waiting: waiting.get(key) ?? 0 };
    return schedule.ticks
      .filter(isNew)
      .map((tick) => ({ row: schedule.row, ...decide(schedule, tick, state, nowMs) }));
  });
  yield* insertTicks(
    decisions.map(({ row: { org_id, schedule_id }, tick }) => ({ org_id, schedule_id, ...tick })),
  );
  yield* insertExecutions(decisions.flatMap(({ execution }) => execution ?? []));
  yield* setNextDue(due.map(({ row, nextMs }) => ({ ...row, nextMs })));
  yield* insertLogs(decisions.flatMap(({ line }) => line ?? []));
  return decisions.map(({ tick }) => tick);
}

/** Decides a tick, and adds it to the state of its schedule for later ticks. */
function decide(
  { row, definition }: Due,
  planned: PlannedTick,
  state: { activeId: string | null; waiting: number },
  nowMs: number,
): Decision {
  const { overlap } = definition;
  const base = { due_at: planned.dueMs, execution_id: null, decided_at: nowMs };
  if (planned.outcome === "missed") {
    const line = logLine(row, definition, planned.dueMs, "was missed", planned.reason, nowMs);
    return { tick: { ...base, outcome: "missed", reason: planned.reason }, execution: null, line };
  }
  if (overlap === "allow" || (state.activeId === null && state.waiting === 0)) {
    const execution = newRun(row, definition, nowMs);
    const executionId = execution?.execution_id ?? null;
    state.activeId = executionId;
    return {
      tick: { ...base, outcome: "run", reason: planned.reason, execution_id: executionId },
      execution,
      line: null,
    };
  }
  const cause =
    state.activeId === null
      ? "Earlier runs were waiting"
      : `The previous run ${state.activeId} had not ended`;
  if (overlap === "queue" && state.waiting < maxWaiting) {
    state.waiting++;
    return { tick: { ...base, outcome: "waiting", reason: `${cause}.` }, execution: null, line: null };
  }
  const reason = overlap === "queue" ? `${maxWaiting} earlier runs were waiting.` : `${cause}.`;
  const line = logLine(row, definition, planned.dueMs, "was skipped", reason, nowMs);
  return { tick: { ...base, outcome: "skipped", reason }, execution: null, line };
}

/** Starts the oldest waiting tick of schedules whose previous run has ended. Skips those of paused and removed schedules. */
export function* startWaitingTicks(nowMs: number): Program<void> {
  const candidates = yield* listReadyTicks(batchSize);
  if (candidates.length === 0) return;
  // Without those that another scheduler has locked.
  const schedules = new Map((yield* lockSchedules(candidates)).map((row) => [scheduleKey(row), row]));
  // Again under the lock: another scheduler may have started a run.
  const ready = yield* listReadyTicks(batchSize);
  const starts = ready.flatMap(({ org_id, schedule_id, due_at }) => {
    const row = schedules.get(scheduleKey({ org_id, schedule_id }));
    if (row === undefined || row.deployment_id === null || row.paused === 1) return [];
    const execution = newRun(row, parseStored<ScheduleDefinition>(row.definition), nowMs);
    return execution === null ? [] : [{ org_id, schedule_id, due_at, execution }];
  });
  const stopped = ready.filter((tick) => {
    const row = schedules.get(scheduleKey(tick));
    return row !== undefined && (row.deployment_id === null || row.paused === 1);
  });
  yield* skipWaitingTicks(stopped, "The schedule was paused or removed.", nowMs);
  const started = yield* startTicks(
    starts.map((start) => ({ ...start, executionId: start.execution.execution_id })),
    nowMs,
  );
  yield* insertExecutions(
    starts.filter((start) => started.has(tickId(start))).map(({ execution }) => execution),
  );
}

function newRun(row: ScheduleRow, definition: ScheduleDefinition, nowMs: number): NewExecution | null {
  if (row.deployment_id === null) return null;
  return {
    org_id: row.org_id,
    execution_id: orderedId("exe", Math.max(nowMs, 0)),
    kind: row.kind,
    name: scheduledTarget(definition),
    origin: "schedule",
    deployment_id: row.deployment_id,
    environment: row.environment,
    input: JSON.stringify(definition.input),
    created_at: nowMs,
  };
}

function logLine(
  row: ScheduleRow,
  definition: ScheduleDefinition,
  dueMs: number,
  event: string,
  reason: string,
  nowMs: number,
): NewLog {
  return {
    org_id: row.org_id,
    at: nowMs,
    level: "warn",
    source: "schedule",
    message: `The run of ${row.kind} '${row.name}' due at ${new Date(dueMs).toISOString()} ${event}: ${reason}`,
    execution_id: null,
    deployment_id: row.deployment_id,
    name: scheduledTarget(definition),
    environment: row.environment,
  };
}
