import { nextRun, parseCron } from "../../project/cron.ts";
import type { ScheduleDefinition } from "../../project/definition.ts";

/** The value of a schedule's `next_due_at`: null if the schedule is disabled or never due. */
export function nextDue(schedule: ScheduleDefinition, afterMs: number): number | null {
  if (!schedule.enabled) return null;
  return nextRun(parseCron(schedule.cron), schedule.timezone, new Date(afterMs))?.getTime() ?? null;
}
