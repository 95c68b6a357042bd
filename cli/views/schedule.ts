import type { Schedule, Tick } from "../../proto/svc/v1/schedule_pb.ts";
import { ago, dateOf, msOf } from "../api/timestamps.ts";
import { stdoutColors as colors } from "../terminal/colors.ts";
import { duration, formatTime, relativeTime } from "../terminal/format.ts";
import { prettyJson, sanitizeLine } from "../terminal/sanitize.ts";
import { type Cell, fields, paragraphs, section, table } from "../terminal/table.ts";
import { paintedStatus } from "./status.ts";

/** One schedule with its next runs and last ticks. */
export function scheduleText(schedule: Schedule): string {
  const { input = {}, nextRuns, ticks } = schedule;
  const catchUpMs = msOf(schedule.catchUp);
  return paragraphs([
    fields([
      ["schedule", schedule.scheduleId],
      [schedule.kind, schedule.name],
      ["cron", `${sanitizeLine(schedule.cron)} ${sanitizeLine(schedule.timezone)}`],
      ["state", stateOf(schedule)],
      ["overlap", schedule.overlap],
      ["catch-up", catchUpMs === 0 ? "off" : `within ${duration(catchUpMs)}`],
      ["deployment", `${schedule.deploymentId} (${schedule.environment})`],
    ]),
    section("Input", Object.keys(input).length === 0 ? "" : prettyJson(input)),
    section("Next runs", nextRuns.length === 0 ? "" : nextRunsTable(schedule)),
    section("Last ticks", ticks.length === 0 ? "" : lastTicksTable(schedule)),
  ]);
}

/** The next run of a schedule in its own time zone and in that of this machine. */
export function nextRunCells(schedule: Schedule): [inItsZone: Cell, local: string] {
  const next = dateOf(schedule.nextRunAt);
  if (next === null) return [{ text: stateOf(schedule), paint: colors.dim }, ""];
  return [
    toMinute(formatTime(next, schedule.timezone)),
    `${toMinute(formatTime(next))} (${relativeTime(next)})`,
  ];
}

/** The result and age of the last tick; empty before the first. */
export function lastTickCell({ lastTick }: Schedule): string {
  return lastTick === undefined ? "" : `${resultOf(lastTick)} ${ago(lastTick.dueAt)}`;
}

/** The message after a schedule is paused or resumed. */
export function scheduleStateText(schedule: Schedule): string {
  const next = dateOf(schedule.nextRunAt);
  const when = next === null ? "" : `; next run at ${formatTime(next)} (${relativeTime(next)})`;
  return `${schedule.name} is ${paintedStatus(stateOf(schedule))}${when}.`;
}

/** Cron has a resolution of one minute. */
function toMinute(time: string): string {
  return time.slice(0, "2026-11-20 10:08".length);
}

/** For example `active` or `paused`. */
export function stateOf(schedule: Schedule): string {
  if (!schedule.enabled) return "disabled";
  if (schedule.paused) return "paused";
  return schedule.nextRunAt === undefined ? "no next run" : "active";
}

function nextRunsTable({ nextRuns, timezone }: Schedule): string {
  const times = nextRuns.map(dateOf).filter((time) => time !== null);
  const rows = times.map((time) => [formatTime(time, timezone), formatTime(time), relativeTime(time)]);
  return table([timezone, "LOCAL TIME", { title: "", role: "extra" }], rows, 2);
}

function lastTicksTable({ ticks, timezone }: Schedule): string {
  const rows = ticks.map((tick) => {
    const due = dateOf(tick.dueAt);
    return [
      due === null ? "" : formatTime(due, timezone),
      resultOf(tick),
      tick.outcome === "run" ? tick.executionId : tick.reason,
    ];
  });
  return table(["DUE", "OUTCOME", { title: "EXECUTION OR REASON", role: "detail" }], rows, 2);
}

/** The status of the execution that a tick started, or the reason why it started none. */
function resultOf({ outcome, executionStatus }: Tick): string {
  return outcome === "run" && executionStatus !== "" ? executionStatus : outcome;
}
