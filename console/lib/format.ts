/** Texts for values. */
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";

export function dateOf(time: Timestamp | undefined): Date | null {
  return time === undefined ? null : new Date(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6));
}

/** Undefined for that of the browser. Some browsers without a language report one that `Intl` refuses. */
export const locale: string | undefined = isKnown(navigator.language) ? undefined : "en";

function isKnown(language: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(language).length >= 0;
  } catch {
    return false;
  }
}

const local = new Intl.DateTimeFormat(locale, {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});

export function localTime(date: Date): string {
  return local.format(date);
}

export function utcTime(date: Date): string {
  return `${date
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "")} UTC`;
}

/** For example `3 min ago` or `in 2 h`. */
export function relativeTime(date: Date, now: number = Date.now()): string {
  const seconds = Math.round((date.getTime() - now) / 1000);
  const text = span(Math.abs(seconds));
  if (Math.abs(seconds) < 2) return "now";
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export function durationText(ms: number): string {
  if (ms < 1) return "< 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return inTwo(Math.round(ms / 1000), 60, "min", "s");
  return inTwo(Math.round(ms / 60_000), 60, "h", "min");
}

/** For example `5 min` or `5 min 3 s`. */
function inTwo(count: number, size: number, large: string, small: string): string {
  const rest = count % size;
  return `${Math.floor(count / size)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

export function secondsOf(duration: Duration | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) + duration.nanos / 1e9;
}

export function bytesText(bytes: number | bigint): string {
  let value = Number(bytes);
  for (const unit of ["B", "KiB", "MiB"]) {
    if (value < 1024) return `${unit === "B" ? value : value.toFixed(1)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} GiB`;
}

const numbers = new Intl.NumberFormat(locale);

export function numberText(value: number | bigint): string {
  return numbers.format(value);
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** Long ids are told apart by their end. */
export function shortId(id: string): string {
  return id.length < 16 ? id : `${id.slice(0, 4)}…${id.slice(-6)}`;
}

export function isExecutionId(text: string): boolean {
  return /^exe_[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}
