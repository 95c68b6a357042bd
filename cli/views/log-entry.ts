import type { LogLine } from "../../proto/svc/v1/execution_pb.ts";
import { dateOf } from "../api/timestamps.ts";
import type { Style } from "../terminal/colors.ts";
import { clean, localTime } from "../terminal/format.ts";

/** The widest origin that others are aligned to: what is longer stands out. */
const maxOriginWidth = 24;

/**
 * Returns a function that gives lines of the log as people read them. Messages are aligned as far as what came before
 * shows how; a message of several lines keeps its column.
 *
 * @param options - `full` also tells date, environment, source and id
 */
export function logPrinter(style: Style, options: { full: boolean }): (line: LogLine) => string {
  let originWidth = 0;
  return (line) => {
    const time = timeOf(line, options);
    const origin = originOf(line, options);
    originWidth = Math.max(originWidth, Math.min(origin.length, maxOriginWidth));
    const level = line.level === "info" ? "" : `${line.level}  `;
    const gap = " ".repeat(Math.max(0, originWidth - origin.length) + 2);
    const column = time.length + 2 + Math.max(origin.length, originWidth) + 2;
    const message = clean(line.message)
      .replace(/\n+$/, "")
      .replace(/\n/g, `\n${" ".repeat(column)}`);
    const painted = line.level === "error" ? style.red(message) : message;
    return `${style.dim(time)}  ${style.cyan(origin)}${gap}${paintLevel(level, line.level, style)}${painted}`;
  };
}

function timeOf(line: LogLine, options: { full: boolean }): string {
  const date = dateOf(line.time);
  if (date === null) return "";
  const text = `${localTime(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return options.full ? text : text.slice(11);
}

function originOf(line: LogLine, options: { full: boolean }): string {
  if (!options.full) return line.name || line.source;
  const parts = [line.environment, line.source, line.name, line.executionId || line.deploymentId];
  return parts.filter((part) => part !== "").join(" ");
}

function paintLevel(text: string, level: string, style: Style): string {
  if (level === "error") return style.red(text);
  return level === "warn" ? style.yellow(text) : style.dim(text);
}
