import { sanitizeLine } from "../terminal/sanitize.ts";
import { UsageError } from "./errors.ts";

/** Converts the value of an option. @throws UsageError when it is not valid */
export type Parser<Value> = (text: string, option: string) => Value;

/** Returns a parser for whole numbers in decimal digits within a range. The example is one of them. */
export function integer(min: number, max: number, example = 50): Parser<number> {
  return (text, option) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new UsageError(
      `${option} must be a whole number from ${min} to ${max}, not "${text}".`,
      `Example: ${option} ${Math.min(max, Math.max(min, example))}`,
    );
  };
}

/** Returns a parser for the IDs of one kind of resource. */
export function resourceId(prefix: string): Parser<string> {
  return (text, option) => {
    if (new RegExp(`^${prefix}_[0-9a-z]{26}$`).test(text)) return text;
    throw new UsageError(
      `${option} must be ${prefix}_ and 26 lower-case letters and digits, not "${sanitizeLine(text)}".`,
      "Copy the whole ID from the list.",
    );
  };
}

/** Parses a time in the past: a duration before now (`90s`, `30m`, `2h`, `7d`, `1w`), or an RFC 3339 date or time. */
export function pastTime(text: string, option: string, now: Date = new Date()): Date {
  requireZone(text, option);
  const time = parseTime(text, (ms) => now.getTime() - ms);
  if (time !== null) return time;
  throw new UsageError(
    `${option} must be a duration or an RFC 3339 time, not "${text}".`,
    `Example: ${option} 30m, ${option} 7d or ${option} 2026-05-01T12:00:00Z`,
  );
}

/** Parses a time in the future: a duration from now (`90s`, `30m`, `2h`, `7d`, `1w`), or an RFC 3339 date or time. */
export function futureTime(text: string, option: string, now: Date = new Date()): Date {
  requireZone(text, option);
  const time = parseTime(text, (ms) => now.getTime() + ms);
  if (time !== null && time.getTime() > now.getTime()) return time;
  throw new UsageError(
    `${option} must be a duration or an RFC 3339 time in the future, not "${text}".`,
    `Example: ${option} 90d or ${option} 2030-01-01T00:00:00Z`,
  );
}

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;
/** A date alone is midnight in UTC. */
const rfc3339 = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;
const withoutZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** The meaning of a time without a zone would depend on the machine. */
function requireZone(text: string, option: string): void {
  if (!withoutZone.test(text)) return;
  const time = text.replace(" ", "T");
  throw new UsageError(
    `${option} must be an RFC 3339 time with a time zone, not "${text}".`,
    `Example: ${option} ${time}Z for UTC, or ${option} ${time}+02:00`,
  );
}

function parseTime(text: string, fromDuration: (ms: number) => number): Date | null {
  const duration = /^(\d{1,6})([smhdw])$/.exec(text);
  const time =
    duration === null
      ? new Date(rfc3339.test(text) ? text : Number.NaN)
      : new Date(
          fromDuration(Number(duration[1]) * unitSeconds[duration[2] as keyof typeof unitSeconds] * 1000),
        );
  return Number.isNaN(time.getTime()) ? null : time;
}
