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
 * @param options - `full` adds date, environment, source and ID, `showsExecution` the end of the ID of the execution,
 *   `showsEnvironment` the environment unless it is production
 */
export function logFormatter(stream: NodeJS.WriteStream, options: FormatOptions): (entry: LogLine) => string {
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
    const text = entry.level === "error" ? colors.red(message) : message;
    const painted = text + colors.dim(fieldsText(entry));
    const lines = linesOf(paintLevel(level) + painted, column, stream).join(`\n${" ".repeat(column)}`);
    return `${colors.dim(time)}  ${colors.cyan(origin)}${gap}${lines}`;
  };
}

interface FormatOptions {
  full: boolean;
  showsExecution?: boolean;
  /** Marks entries of other environments than production, where entries of several may appear: `triage (staging)`. */
  showsEnvironment?: boolean;
}

/** `  order=17 name="Ada Lovelace"`; empty without fields. Text that looks like another value is quoted. */
export function fieldsText({ fields = {} }: Pick<LogLine, "fields">): string {
  const texts = Object.entries(fields).map(([name, value]) => {
    const isPlain =
      typeof value === "string" && /^[^\s"=]+$/.test(value) && !/^(?:[-\d[{]|true$|false$|null$)/.test(value);
    return `${name}=${isPlain ? value : JSON.stringify(value)}`;
  });
  return texts.length === 0 ? "" : `  ${texts.join(" ")}`;
}

function timeOf(entry: LogLine, options: FormatOptions): string {
  const date = dateOf(entry.time);
  if (date === null) return "";
  const text = `${formatTime(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return options.full ? text : text.slice(11);
}

/** Characters at the end of an ID: its beginning is a time that executions share. */
const shortIdLength = 6;

function originOf(entry: LogLine, options: FormatOptions): string {
  const name = entry.name || entry.source;
  if (!options.full) {
    const execution = options.showsExecution ? ` ${entry.executionId.slice(-shortIdLength)}` : "";
    const isMarked = options.showsEnvironment && !["", "production"].includes(entry.environment);
    return `${name}${execution}${isMarked ? ` (${entry.environment})` : ""}`;
  }
  const parts = [entry.environment, entry.source, entry.name, entry.executionId || entry.deploymentId];
  return parts.filter((part) => part !== "").join(" ");
}
