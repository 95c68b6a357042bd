import type { LogLine } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf } from "../api/timestamps.ts";
import { stderrColors, stdoutColors } from "../terminal/colors.ts";
import { formatTime } from "../terminal/format.ts";
import { linesOf } from "../terminal/wrap.ts";

/** Longer origins do not move the message column of other entries. */
const maxOriginWidth = 24;

/**
 * Returns a function that formats log entries. The message column adapts to the longest origin so far; further lines
 * of a message are indented to it. A terminal breaks long lines at words.
 *
 * @param stream - where the entries are printed
 * @param options - `full` adds date, environment, source and ID
 */
export function logFormatter(
  stream: NodeJS.WriteStream,
  options: { full: boolean },
): (entry: LogLine) => string {
  const colors = stream === process.stderr ? stderrColors : stdoutColors;
  let originWidth = 0;
  return (entry) => {
    const time = timeOf(entry, options);
    const origin = originOf(entry, options);
    originWidth = Math.max(originWidth, Math.min(origin.length, maxOriginWidth));
    const level = entry.level === "info" ? "" : `${entry.level}  `;
    const paintLevel = { error: colors.red, warn: colors.yellow }[entry.level] ?? colors.dim;
    const gap = " ".repeat(Math.max(0, originWidth - origin.length) + 2);
    const column = time.length + 2 + Math.max(origin.length, originWidth) + 2;
    const message = entry.message.replace(/\n+$/, "");
    const painted = entry.level === "error" ? colors.red(message) : message;
    const text = linesOf(paintLevel(level) + painted, column, stream).join(`\n${" ".repeat(column)}`);
    return `${colors.dim(time)}  ${colors.cyan(origin)}${gap}${text}`;
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
