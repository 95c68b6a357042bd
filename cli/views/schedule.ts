import type { Schedule, Tick } from "../../proto/svc/v1/schedule_pb.ts";
import { ago, dateOf } from "../api/timestamps.ts";
import { out } from "../terminal/colors.ts";
import { cleanLine, distance, duration, localTime, prettyJson, zonedTime } from "../terminal/format.ts";
import { type Cell, fields, indent, table } from "../terminal/table.ts";
import { paintedStatus } from "./status.ts";

/** One schedule with its next runs and last ticks. */
export function scheduleText(schedule: Schedule): string {
  const parts = [
    fields([
      ["schedule", schedule.scheduleId],
      [schedule.kind, schedule.name],
      ["cron", `${cleanLine(schedule.cron)} ${cleanLine(schedule.timezone)}`],
      ["state", stateOf(schedule)],
      ["overlap", schedule.overlap],
      ["catch up", schedule.catchUp === 0 ? "never" : `within ${duration(schedule.catchUp * 1000)}`],
      ["deployment", `${schedule.deploymentId} (${schedule.environment})`],
    ]),
  ];
  if (Object.keys(schedule.input ?? {}).length > 0) {
    parts.push(`${out.bold("Input")}\n${indent(prettyJson(schedule.input))}`);
  }
  if (schedule.nextRuns.length > 0) parts.push(`${out.bold("Next runs")}\n${nextRuns(schedule)}`);
  if (schedule.ticks.length > 0) parts.push(`${out.bold("Last ticks")}\n${lastTicks(schedule)}`);
  return parts.join("\n\n");
}

/** When a schedule runs next: in its own zone, and here. */
export function nextCells(schedule: Schedule): [inItsZone: Cell, here: string] {
  const next = dateOf(schedule.nextRunAt);
  if (next === null) return [{ text: stateOf(schedule), paint: out.dim }, ""];
  return [zonedTime(next, schedule.timezone), `${localTime(next)} (${distance(next)})`];
}

/** The last tick and what came of it; empty before the first. */
export function lastCell(schedule: Schedule): string {
  const tick = schedule.lastTick;
  return tick === undefined ? "" : `${resultOf(tick)} ${ago(tick.dueAt)}`;
}

function stateOf(schedule: Schedule): string {
  if (!schedule.enabled) return "disabled";
  if (schedule.paused) return "paused";
  return schedule.nextRunAt === undefined ? "never runs" : "active";
}

function nextRuns({ nextRuns, timezone }: Schedule): string {
  const times = nextRuns.map(dateOf).filter((time) => time !== null);
  const rows = times.map((time) => [zonedTime(time, timezone), localTime(time), distance(time)]);
  return table(["IN ITS ZONE", "HERE", ""], rows, "  ");
}

function lastTicks({ ticks, timezone }: Schedule): string {
  const rows = ticks.map((tick) => {
    const due = dateOf(tick.dueAt);
    return [
      due === null ? "" : zonedTime(due, timezone),
      resultOf(tick),
      tick.outcome === "run" ? tick.executionId : cleanLine(tick.reason),
    ];
  });
  return table(["DUE", "OUTCOME", "EXECUTION OR REASON"], rows, "  ");
}

/** What came of a tick: how its execution ended, or why there is none. */
function resultOf({ outcome, executionStatus }: Tick): string {
  return outcome === "run" && executionStatus !== "" ? executionStatus : outcome;
}

/** What is said when a schedule was paused or resumed. */
export function changedText(schedule: Schedule): string {
  const next = dateOf(schedule.nextRunAt);
  const when = next === null ? "" : `; it runs next at ${localTime(next)} (${distance(next)})`;
  return `${schedule.name} is ${paintedStatus(stateOf(schedule))}${when}.`;
}
