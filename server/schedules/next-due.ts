/** When a schedule's next row is due. */
import { nextRun, parseCron } from "../../project/cron.ts";
import type { ScheduleDefinition } from "../../project/definition.ts";

/** When a schedule is due next; null when it is disabled or never due. */
export function nextDue(schedule: ScheduleDefinition, afterMs: number): number | null {
  if (!schedule.enabled) return null;
  return nextRun(parseCron(schedule.cron), schedule.timezone, new Date(afterMs))?.getTime() ?? null;
}
