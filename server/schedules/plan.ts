/**
 * Plans the ticks of a due schedule: a pure function of times.
 *
 * A *tick* is one time at which a schedule is due. It is *on time* if a scheduler was awake at that time or within the
 * ten seconds after it, so that a restart misses nothing. Every other tick is *missed*. The latest missed tick runs if it
 * is within `catchUpSeconds`; earlier ones are recorded and do not run.
 */
import { nextRun, parseCron, previousRuns } from "../../project/cron.ts";
import type { ScheduleDefinition } from "../../project/definition.ts";

/** How late a tick may be processed and still count as on time. */
const graceMs = 10_000;

/** Missed ticks of one schedule that are recorded. If more were missed, the latest are recorded. */
const maxMissed = 30;
/** Ticks of one schedule that are planned at once. If more are due, the schedule stays due. */
const maxOnTime = 100;

export interface PlannedTick {
  dueMs: number;
  outcome: "run" | "missed";
  reason: string;
}

export interface Plan {
  /** The earliest first. */
  ticks: PlannedTick[];
  /** When the schedule is due next; null if never. */
  nextMs: number | null;
}

type Timing = Pick<ScheduleDefinition, "cron" | "timezone" | "catchUpSeconds">;

/**
 * @param dueMs - when the schedule is due, not after `nowMs`
 * @param awakeSinceMs - since when a scheduler has been awake without interruption
 */
export function planTicks(schedule: Timing, dueMs: number, nowMs: number, awakeSinceMs: number): Plan {
  const cron = parseCron(schedule.cron);
  const { timezone } = schedule;
  const onTimeFromMs = awakeSinceMs - graceMs;
  const ticks: PlannedTick[] = [];
  if (dueMs < onTimeFromMs) {
    const missed = previousRuns(cron, timezone, new Date(onTimeFromMs), new Date(dueMs), maxMissed).reverse();
    for (const [index, run] of missed.entries()) {
      const isLatest = index === missed.length - 1;
      ticks.push(planMissed(schedule, run.getTime(), nowMs, isLatest));
    }
  }
  let next = nextRun(cron, timezone, new Date(Math.max(dueMs, onTimeFromMs) - 1));
  for (let count = 0; count < maxOnTime && next !== null && next.getTime() <= nowMs; count++) {
    ticks.push({ dueMs: next.getTime(), outcome: "run", reason: "On time." });
    next = nextRun(cron, timezone, next);
  }
  return { ticks, nextMs: next?.getTime() ?? null };
}

function planMissed(schedule: Timing, dueMs: number, nowMs: number, isLatest: boolean): PlannedTick {
  const reason = "No scheduler was running at that time";
  if (!isLatest) return { dueMs, outcome: "missed", reason: `${reason}.` };
  const late = `${Math.round((nowMs - dueMs) / 1000)} s late`;
  if (nowMs - dueMs <= schedule.catchUpSeconds * 1000) {
    return { dueMs, outcome: "run", reason: `Caught up ${late}.` };
  }
  const limit =
    schedule.catchUpSeconds === 0
      ? ", and catch_up is 0."
      : `; ${late} is over catch_up (${schedule.catchUpSeconds} s).`;
  return { dueMs, outcome: "missed", reason: `${reason}${limit}` };
}
