/**
 * Starts what is due. Once a second it asks the store, by index, for schedules whose time has come, and decides each of
 * their ticks in the transaction that queues the execution and sets the next time. A tick is a unique row, so that it runs
 * once, however many schedulers share the store and however often one dies.
 *
 * node-cron gives the beat. It arms its timer by the wall clock, so that a clock set back an hour would stop it for an
 * hour: a watch on the monotonic clock starts it anew then.
 */
import { performance } from "node:perf_hooks";
import { createTask, type ScheduledTask } from "node-cron";
import { nextRun, parseCron } from "../../project/cron.ts";
import type { ScheduleDefinition } from "../../project/definition.ts";
import type { Executor } from "../executions/executor.ts";
import { logTopic, type Notices } from "../executions/notices.ts";
import { orderedId } from "../ids.ts";
import type { Engine, Program } from "../store/engine.ts";
import { insertExecution } from "../store/executions.ts";
import { parseStored } from "../store/json.ts";
import { insertLogs } from "../store/logs.ts";
import {
  countWaitingTicks,
  getActiveRun,
  getScheduleById,
  insertTick,
  listDueSchedules,
  listRunnableSchedules,
  listWaitingTicks,
  type ScheduleRow,
  setNextDue,
  skipWaiting,
  startTick,
} from "../store/schedules.ts";
import { type PlannedTick, planTicks } from "./plan.ts";

/** Schedules decided in one transaction: bounds how long it holds the event loop. */
const batchSize = 250;
const beatWatchMs = 2_500;
/** A wall clock that is so far behind where it was has been set back. */
const setBackMs = 2_000;
/** Ticks of one schedule that may wait with overlap `queue`. */
const maxWaiting = 100;

/** The two clocks, so that tests can set one back. */
export interface Clock {
  /** Unix milliseconds. */
  wallMs(): number;
  /** Milliseconds that only ever grow. */
  monotonicMs(): number;
}

export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

export interface SchedulerParts {
  engine: Engine;
  executor: Pick<Executor, "wake">;
  notices: Notices;
  clock: Clock;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  #task: ScheduledTask | null = null;
  #watch: NodeJS.Timeout | null = null;
  #lastPass: { wallMs: number; monotonicMs: number } | null = null;
  #passing: Promise<void> | null = null;
  #closed = false;
  #error: string | null = null;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#startBeat();
    let beat = performance.now();
    const tick = () => {
      beat = performance.now();
      void this.pass();
    };
    this.#onBeat = tick;
    this.#watch = setInterval(() => {
      if (performance.now() - beat > beatWatchMs) {
        this.#startBeat();
        tick();
      }
    }, beatWatchMs);
  }

  #onBeat: () => void = () => {};

  #startBeat(): void {
    void this.#task?.destroy();
    this.#task = createTask("* * * * * *", () => this.#onBeat(), { logger: silent });
    void this.#task.start();
  }

  /** @throws Error when the last pass failed. */
  check(): void {
    if (this.#error !== null) throw new Error(this.#error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    await this.#task?.destroy();
    await this.#passing;
  }

  /** Decides everything that is due now. One pass at a time; a call during a pass waits for that one. */
  pass(): Promise<void> {
    this.#passing ??= this.#pass()
      .then(
        () => {
          this.#error = null;
        },
        (error: unknown) => {
          if (this.#closed) return;
          this.#error = error instanceof Error ? error.message : String(error);
          console.error("The scheduler failed:", this.#error);
        },
      )
      .finally(() => {
        this.#passing = null;
      });
    return this.#passing;
  }

  async #pass(): Promise<void> {
    const { engine, clock } = this.#parts;
    const nowMs = clock.wallMs();
    const monotonicMs = clock.monotonicMs();
    const last = this.#lastPass;
    this.#lastPass = { wallMs: nowMs, monotonicMs };
    const awakeMs = last === null ? 0 : monotonicMs - last.monotonicMs;
    if (last !== null && nowMs < last.wallMs + awakeMs - setBackMs) await this.#recompute(nowMs);
    while (!this.#closed) {
      const decided = await engine.write(() => decideDue(nowMs, nowMs - awakeMs));
      this.#announce(decided);
      if (decided.schedules < batchSize) break;
    }
    if (this.#closed) return;
    this.#announce(await engine.write(() => startWaiting(nowMs)));
  }

  /** The clock was set back: what was computed from the later time would come too late. */
  async #recompute(nowMs: number): Promise<void> {
    const { engine } = this.#parts;
    let after = { orgId: "", scheduleId: "" };
    while (!this.#closed) {
      const rows = await engine.write(function* () {
        const page = yield* listRunnableSchedules(after, batchSize);
        for (const row of page) {
          const next = nextDue(parseStored<ScheduleDefinition>(row.definition), nowMs);
          yield* setNextDue(row.org_id, row.schedule_id, next);
        }
        return page;
      });
      const last = rows.at(-1);
      if (last === undefined || rows.length < batchSize) return;
      after = { orgId: last.org_id, scheduleId: last.schedule_id };
    }
  }

  #announce(decided: Decided): void {
    for (const deploymentId of decided.deployments) this.#parts.executor.wake(deploymentId);
    for (const orgId of decided.logged) this.#parts.notices.announce(logTopic(orgId));
  }
}

/** When a schedule is due next; null when it is disabled or never due. */
export function nextDue(schedule: ScheduleDefinition, afterMs: number): number | null {
  if (!schedule.enabled) return null;
  return nextRun(parseCron(schedule.cron), schedule.timezone, new Date(afterMs))?.getTime() ?? null;
}

interface Decided {
  schedules: number;
  deployments: Set<string>;
  logged: Set<string>;
}

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

function* decideDue(nowMs: number, awakeSinceMs: number): Program<Decided> {
  const rows = yield* listDueSchedules(nowMs, batchSize);
  const decided: Decided = { schedules: rows.length, deployments: new Set(), logged: new Set() };
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
function* startWaiting(nowMs: number): Program<Decided> {
  const decided: Decided = { schedules: 0, deployments: new Set(), logged: new Set() };
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
