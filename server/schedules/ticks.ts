/** Database programs that process ticks. A tick is recorded, and its execution queued, in one transaction. */
import type { ScheduleDefinition } from "../../project/definition.ts";
import { orderedId } from "../ids.ts";
import type { Program } from "../store/engine.ts";
import { insertExecution } from "../store/executions.ts";
import { parseStored } from "../store/json.ts";
import { insertLogs } from "../store/logs.ts";
import {
  countWaitingTicks,
  getActiveRunId,
  getScheduleById,
  insertTick,
  listDueOfProject,
  listDueSchedules,
  listReadyTicks,
  type ScheduleRow,
  setNextDue,
  skipWaitingTicks,
  startTick,
} from "../store/schedules.ts";
import { type PlannedTick, planTicks } from "./plan.ts";

/** Schedules processed in one transaction. At 0.2 ms each, and 2 ms after a long outage, this bounds event loop blocking. */
export const batchSize = 50;
/** Ticks of one schedule that may wait (overlap `queue`). */
const maxWaiting = 100;

/** The effects of a program, for notifications after the commit. */
export interface TickEffects {
  /** Schedules processed. */
  schedules: number;
  /** Ids of deployments with new executions. */
  deployments: Set<string>;
  /** Ids of organizations with new log entries. */
  logged: Set<string>;
}

export function noTickEffects(): TickEffects {
  return { schedules: 0, deployments: new Set(), logged: new Set() };
}

/** Processes the due ticks of up to `batchSize` schedules. */
export function* processDueTicks(nowMs: number, awakeSinceMs: number): Program<TickEffects> {
  return yield* processSchedules(yield* listDueSchedules(nowMs, batchSize), nowMs, awakeSinceMs);
}

/**
 * Processes the due ticks of one project. Every program that changes the schedules of a project calls this first, because
 * ticks that became due since the last pass would otherwise be lost.
 */
export function* processDueTicksOfProject(
  scope: { org_id: string; environment: string; project: string },
  nowMs: number,
): Program<TickEffects> {
  return yield* processSchedules(yield* listDueOfProject(scope, nowMs), nowMs, nowMs);
}

function* processSchedules(
  rows: readonly ScheduleRow[],
  nowMs: number,
  awakeSinceMs: number,
): Program<TickEffects> {
  const effects: TickEffects = { ...noTickEffects(), schedules: rows.length };
  for (const row of rows) {
    const definition = parseStored<ScheduleDefinition>(row.definition);
    const plan = planTicks(definition, row.next_due_at ?? nowMs, nowMs, awakeSinceMs);
    for (const tick of plan.ticks) yield* processTick(row, definition, tick, nowMs, effects);
    yield* setNextDue(row.org_id, row.schedule_id, plan.nextMs);
  }
  return effects;
}

function* processTick(
  row: ScheduleRow,
  definition: ScheduleDefinition,
  tick: PlannedTick,
  nowMs: number,
  effects: TickEffects,
): Program<void> {
  const base = { due_at: tick.dueMs, execution_id: null, decided_at: nowMs };
  if (tick.outcome === "missed") {
    const isNew = yield* insertTick(row, { ...base, outcome: "missed", reason: tick.reason });
    if (isNew) yield* log(row, tick.dueMs, "was missed", tick.reason, nowMs, effects);
    return;
  }
  const active = definition.overlap === "allow" ? null : yield* getActiveRunId(row.org_id, row.schedule_id);
  const waiting = definition.overlap === "queue" ? yield* countWaitingTicks(row.org_id, row.schedule_id) : 0;
  if (active === null && waiting === 0) {
    const executionId = orderedId("exe", Math.max(nowMs, 0));
    const isNew = yield* insertTick(row, {
      ...base,
      outcome: "run",
      reason: tick.reason,
      execution_id: executionId,
    });
    if (isNew) yield* queueRun(row, definition, executionId, nowMs, effects);
    return;
  }
  const cause = active === null ? "Earlier runs were waiting" : `The previous run ${active} had not ended`;
  if (definition.overlap === "queue" && waiting < maxWaiting) {
    yield* insertTick(row, { ...base, outcome: "waiting", reason: `${cause}.` });
    return;
  }
  const reason = definition.overlap === "queue" ? `${maxWaiting} earlier runs were waiting.` : `${cause}.`;
  const isNew = yield* insertTick(row, { ...base, outcome: "skipped", reason });
  if (isNew) yield* log(row, tick.dueMs, "was skipped", reason, nowMs, effects);
}

/** Starts the oldest waiting tick of schedules whose previous run has ended. Skips those of paused and removed schedules. */
export function* startWaitingTicks(nowMs: number): Program<TickEffects> {
  const effects = noTickEffects();
  for (const { org_id, schedule_id, due_at } of yield* listReadyTicks(batchSize)) {
    const row = yield* getScheduleById(org_id, schedule_id);
    if (row === undefined || row.deployment_id === null || row.paused === 1) {
      yield* skipWaitingTicks({ org_id, schedule_id }, "The schedule was paused or removed.", nowMs);
      continue;
    }
    const executionId = orderedId("exe", nowMs);
    if (yield* startTick(row, due_at, executionId, nowMs)) {
      yield* queueRun(row, parseStored<ScheduleDefinition>(row.definition), executionId, nowMs, effects);
    }
  }
  return effects;
}

function* queueRun(
  row: ScheduleRow,
  definition: ScheduleDefinition,
  executionId: string,
  nowMs: number,
  effects: TickEffects,
): Program<void> {
  if (row.deployment_id === null) return;
  yield* insertExecution({
    org_id: row.org_id,
    execution_id: executionId,
    kind: row.kind,
    name: row.name,
    origin: "schedule",
    deployment_id: row.deployment_id,
    environment: row.environment,
    input: JSON.stringify(definition.input),
    created_at: nowMs,
  });
  effects.deployments.add(row.deployment_id);
}

function* log(
  row: ScheduleRow,
  dueMs: number,
  event: string,
  reason: string,
  nowMs: number,
  effects: TickEffects,
): Program<void> {
  yield* insertLogs([
    {
      org_id: row.org_id,
      at: nowMs,
      level: "warn",
      source: "schedule",
      message: `The run of ${row.kind} '${row.name}' due at ${new Date(dueMs).toISOString()} ${event}: ${reason}`,
      execution_id: null,
      deployment_id: row.deployment_id,
      name: row.name,
      environment: row.environment,
    },
  ]);
  effects.logged.add(row.org_id);
}
