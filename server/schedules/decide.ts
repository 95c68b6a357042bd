/** The programs that decide ticks. Each tick is decided, and its execution queued, in one transaction. */
import type { ScheduleDefinition } from "../../project/definition.ts";
import { orderedId } from "../ids.ts";
import type { Program } from "../store/engine.ts";
import { insertExecution } from "../store/executions.ts";
import { parseStored } from "../store/json.ts";
import { insertLogs } from "../store/logs.ts";
import {
  countWaitingTicks,
  getActiveRun,
  getScheduleById,
  insertTick,
  listDueOfProject,
  listDueSchedules,
  listWaitingTicks,
  type ScheduleRow,
  setNextDue,
  skipWaiting,
  startTick,
} from "../store/schedules.ts";
import { type PlannedTick, planTicks } from "./plan.ts";

/** Schedules decided in one transaction: bounds how long it holds the event loop. */
export const batchSize = 250;
/** Ticks of one schedule that may wait with overlap `queue`. */
const maxWaiting = 100;

/** What a program decided, for those who wait for it. */
export interface Decided {
  schedules: number;
  deployments: Set<string>;
  logged: Set<string>;
}

export function noneDecided(): Decided {
  return { schedules: 0, deployments: new Set(), logged: new Set() };
}

/** Decides every tick of the schedules that are due, up to a batch of them. */
export function* decideDue(nowMs: number, awakeSinceMs: number): Program<Decided> {
  return yield* decideAll(yield* listDueSchedules(nowMs, batchSize), nowMs, awakeSinceMs);
}

/**
 * Decides what is due of one project, in the program that changes its schedules: a tick that no pass has seen yet would
 * otherwise be gone without a word.
 */
export function* decideDueOf(
  scope: { org_id: string; environment: string; project: string },
  nowMs: number,
): Program<Decided> {
  return yield* decideAll(yield* listDueOfProject(scope, nowMs), nowMs, nowMs);
}

function* decideAll(rows: readonly ScheduleRow[], nowMs: number, awakeSinceMs: number): Program<Decided> {
  const decided: Decided = { ...noneDecided(), schedules: rows.length };
  for (const row of rows) {
    const definition = parseStored<ScheduleDefinition>(row.definition);
    const plan = planTicks(definition, row.next_due_at ?? nowMs, nowMs, awakeSinceMs);
    for (const tick of plan.ticks) yield* decideTick(row, definition, tick, nowMs, decided);
    yield* setNextDue(row.org_id, row.schedule_id, plan.nextMs);
  }
  return decided;
}

function* decideTick(
  row: ScheduleRow,
  definition: ScheduleDefinition,
  tick: PlannedTick,
  nowMs: number,
  decided: Decided,
): Program<void> {
  const base = { due_at: tick.dueMs, execution_id: null, decided_at: nowMs };
  if (tick.outcome === "missed") {
    const fresh = yield* insertTick(row, { ...base, outcome: "missed", reason: tick.reason });
    if (fresh) yield* log(row, tick.dueMs, "was missed", tick.reason, nowMs, decided);
    return;
  }
  const active = definition.overlap === "allow" ? null : yield* getActiveRun(row.org_id, row.schedule_id);
  const waiting = definition.overlap === "queue" ? yield* countWaitingTicks(row.org_id, row.schedule_id) : 0;
  if (active === null && waiting === 0) {
    const executionId = orderedId("exe", Math.max(nowMs, 0));
    const fresh = yield* insertTick(row, {
      ...base,
      outcome: "run",
      reason: tick.reason,
      execution_id: executionId,
    });
    if (fresh) yield* queueRun(row, definition, executionId, nowMs, decided);
    return;
  }
  const running = active === null ? "Others wait before it" : `The run before, ${active}, was still going`;
  if (definition.overlap === "queue" && waiting < maxWaiting) {
    yield* insertTick(row, { ...base, outcome: "waiting", reason: `${running}.` });
    return;
  }
  const reason = definition.overlap === "queue" ? `${maxWaiting} ticks were waiting already.` : `${running}.`;
  const fresh = yield* insertTick(row, { ...base, outcome: "skipped", reason });
  if (fresh) yield* log(row, tick.dueMs, "was skipped", reason, nowMs, decided);
}

/** Starts the oldest waiting tick of each schedule whose run before has ended. */
export function* startWaiting(nowMs: number): Program<Decided> {
  const decided = noneDecided();
  for (const { org_id, schedule_id, due_at } of yield* listWaitingTicks(batchSize)) {
    const row = yield* getScheduleById(org_id, schedule_id);
    if (row === undefined || row.deployment_id === null || row.paused === 1) {
      yield* skipWaiting({ org_id, schedule_id }, "The schedule was paused or removed meanwhile.", nowMs);
      continue;
    }
    if ((yield* getActiveRun(org_id, schedule_id)) !== null) continue;
    const executionId = orderedId("exe", nowMs);
    if (yield* startTick(row, due_at, executionId, nowMs)) {
      yield* queueRun(row, parseStored<ScheduleDefinition>(row.definition), executionId, nowMs, decided);
    }
  }
  return decided;
}

function* queueRun(
  row: ScheduleRow,
  definition: ScheduleDefinition,
  executionId: string,
  nowMs: number,
  decided: Decided,
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
  decided.deployments.add(row.deployment_id);
}

function* log(
  row: ScheduleRow,
  dueMs: number,
  what: string,
  reason: string,
  nowMs: number,
  decided: Decided,
): Program<void> {
  yield* insertLogs([
    {
      org_id: row.org_id,
      at: nowMs,
      level: "warn",
      source: "schedule",
      message: `The run of ${row.kind} '${row.name}' due at ${new Date(dueMs).toISOString()} ${what}: ${reason}`,
      execution_id: null,
      deployment_id: row.deployment_id,
      name: row.name,
      environment: row.environment,
    },
  ]);
  decided.logged.add(row.org_id);
}
