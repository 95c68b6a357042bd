/**
 * What a schedule that is due does now: a pure function of times.
 *
 * A tick is *on time* when a scheduler was awake at its time, or came back at most ten seconds later, so that a restart
 * loses nothing. Every other is *missed*: the latest missed one within `catchUpSeconds` runs once, the others are
 * recorded and do not run.
 */
import { latestRun, nextRun, parseCron, runsBetween } from "../../project/cron.ts";
import type { ScheduleDefinition } from "../../project/definition.ts";

/** How late a tick may be found and still count as on time. */
export const graceMs = 10_000;

/** Missed ticks that get a row of their own; of more, the latest do. */
const maxMissed = 100;
const maxOnTime = 100;

export interface PlannedTick {
  dueMs: number;
  outcome: "run" | "missed";
  reason: string;
}

export interface Plan {
  /** In order of their times. */
  ticks: PlannedTick[];
  /** When the schedule is due again; null when never. */
  nextMs: number | null;
}

/**
 * @param dueMs - the time at which the schedule is due, not after `nowMs`
 * @param awakeSinceMs - from when on a scheduler was awake without a break until `nowMs`
 */
export function planTicks(
  schedule: Pick<ScheduleDefinition, "cron" | "timezone" | "catchUpSeconds">,
  dueMs: number,
  nowMs: number,
  awakeSinceMs: number,
): Plan {
  const cron = parseCron(schedule.cron);
  const { timezone } = schedule;
  const now = new Date(nowMs);
  const ticks: PlannedTick[] = [];
  const onTimeFromMs = awakeSinceMs - graceMs;
  if (dueMs < onTimeFromMs) {
    const beforeOnTime = new Date(onTimeFromMs - 1);
    const latest = latestRun(cron, timezone, new Date(dueMs - 1), beforeOnTime)?.getTime() ?? dueMs;
    const catches = nowMs - latest <= schedule.catchUpSeconds * 1000;
    for (const missedMs of missedBefore(cron, timezone, dueMs, latest)) {
      ticks.push({ dueMs: missedMs, outcome: "missed", reason: "No scheduler was running at that time." });
    }
    ticks.push(
      catches
        ? { dueMs: latest, outcome: "run", reason: `Caught up ${seconds(nowMs - latest)} late.` }
        : { dueMs: latest, outcome: "missed", reason: missedReason(schedule, nowMs - latest) },
    );
  }
  const from = new Date(Math.max(dueMs, onTimeFromMs) - 1);
  for (const run of runsBetween(cron, timezone, from, now, maxOnTime)) {
    ticks.push({ dueMs: run.getTime(), outcome: "run", reason: "On time." });
  }
  return { ticks, nextMs: nextRun(cron, timezone, now)?.getTime() ?? null };
}

/** The missed ticks before the latest one; of very many, the last hundred. */
function missedBefore(
  cron: ReturnType<typeof parseCron>,
  timezone: string,
  dueMs: number,
  latestMs: number,
): number[] {
  if (latestMs <= dueMs) return [];
  const until = new Date(latestMs - 1);
  const all = runsBetween(cron, timezone, new Date(dueMs - 1), until, maxMissed + 1);
  if (all.length <= maxMissed) return all.map((run) => run.getTime());
  const kept: number[] = [];
  let end = until;
  while (kept.length < maxMissed) {
    const run = latestRun(cron, timezone, new Date(dueMs - 1), end);
    if (run === null) break;
    kept.unshift(run.getTime());
    end = new Date(run.getTime() - 1);
  }
  return kept;
}

function missedReason(schedule: { catchUpSeconds: number }, lateMs: number): string {
  const why = "No scheduler was running at that time";
  if (schedule.catchUpSeconds === 0) return `${why}, and catch_up is 0.`;
  return `${why}; ${seconds(lateMs)} late is over catch_up (${schedule.catchUpSeconds} s).`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
