import type { LogLine } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf } from "../api/timestamps.ts";
import type { Colors } from "../terminal/colors.ts";
import { formatTime } from "../terminal/format.ts";

/** Longer origins do not move the message column of other entries. */
const maxOriginWidth = 24;

/**
 * Returns a function that formats log entries. The message column adapts to the longest origin so far; further lines
 * of a message are indented to it.
 *
 * @param options - `full` adds date, environment, source and ID
 */
export function logFormatter(colors: Colors, options: { full: boolean }): (entry: LogLine) => string {
  let originWidth = 0;
  return (entry) => {
    const time = timeOf(entry, options);
    const origin = originOf(entry, options);
    originWidth = Math.max(originWidth, Math.min(origin.length, maxOriginWidth));
    const level = entry.level === "info" ? "" : `${entry.level}  `;
    const paintLevel = { error: colors.red, warn: colors.yellow }[entry.level] ?? colors.dim;
    const gap = " ".repeat(Math.max(0, originWidth - origin.length) + 2);
    const column = time.length + 2 + Math.max(origin.length, originWidth) + 2;
    const message = entry.message.replace(/\n+$/, "").replace(/\n/g, `\n${" ".repeat(column)}`);
    const painted = entry.level === "error" ? colors.red(message) : message;
    return `${colors.dim(time)}  ${colors.cyan(origin)}${gap}${paintLevel(level)}${painted}`;
  };
}

function timeOf(entry: LogLine, options: { full: boolean }): string {
  const date = dateOf(entry.time);
  if (date === null) return "";
  const text = `${formatTime(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return options.full ? text : text.slice(11);
}

function originOf(entry: LogLine, options: { full: boolean }): string {
  if (!options.full) return entry.name || entry.source;
  const parts = [entry.environment, entry.source, entry.name, entry.executionId || entry.deploymentId];
  return parts.filter((part) => part !== "").join(" ");
}
