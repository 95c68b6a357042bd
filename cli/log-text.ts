import type { LogLine } from "../proto/svc/v1/execution_pb.ts";
import type { Style } from "./style.ts";
import { clean, localTime } from "./text.ts";
import { dateOf } from "./times.ts";

/** One line of the log as people read it. A message of several lines keeps its first column. */
export function logText(line: LogLine, style: Style, options: { full: boolean }): string {
  const date = dateOf(line.time);
  const millis = date === null ? "" : `.${String(date.getMilliseconds()).padStart(3, "0")}`;
  const time = date === null ? "" : localTime(date) + millis;
  const origin = options.full
    ? [line.environment, line.source, line.name, line.executionId || line.deploymentId]
        .filter((part) => part !== "")
        .join(" ")
    : line.name || line.source;
  const head = `${style.dim(options.full ? time : time.slice(11))}  ${levelMark(line.level, style)}${style.cyan(origin)}  `;
  const width = (options.full ? time.length : time.length - 11) + levelWidth(line.level) + origin.length + 4;
  const message = clean(line.message)
    .replace(/\n+$/, "")
    .replace(/\n/g, `\n${" ".repeat(width)}`);
  return head + (line.level === "error" ? style.red(message) : message);
}

function levelMark(level: string, style: Style): string {
  if (level === "error") return `${style.red("error")}  `;
  if (level === "warn") return `${style.yellow("warn")}  `;
  if (level === "debug") return `${style.dim("debug")}  `;
  return "";
}

function levelWidth(level: string): number {
  return level === "info" ? 0 : level.length + 2;
}
