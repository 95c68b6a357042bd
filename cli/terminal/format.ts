/** For example `3 webhooks`, `1 webhook`. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}

/** For example `2 agents, 0 workflows, 1 webhook, 1 schedule`. */
export function contentsOf(
  deployment: Record<"agents" | "workflows" | "webhooks" | "schedules", unknown[]>,
): string {
  return (["agent", "workflow", "webhook", "schedule"] as const)
    .map((noun) => count(deployment[`${noun}s`].length, noun))
    .join(", ");
}

/** For example `512 B`, `14.2 KiB`, `3.0 MiB`. */
export function bytes(exactSize: number | bigint): string {
  const size = Number(exactSize);
  if (size < 1024) return `${size} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = size / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** For example `12 ms`, `3.4 s`, `2 min 5 s`, `3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return twoUnits(seconds, "min", "s");
  const minutes = Math.floor(seconds / 60);
  return minutes < 2880 ? twoUnits(minutes, "h", "min") : `${Math.floor(minutes / 1440)} days`;
}

function twoUnits(value: number, large: string, small: string): string {
  const rest = value % 60;
  return `${Math.floor(value / 60)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

/** A time relative to now, in its largest unit: `5 s ago`, `in 3 h`. */
export function relativeTime(time: Date, now: Date = new Date()): string {
  const seconds = Math.round((time.getTime() - now.getTime()) / 1000);
  const size = Math.abs(seconds);
  const units = [
    [60, 1, "s"],
    [3600, 60, "min"],
    [172_800, 3600, "h"],
    [Number.POSITIVE_INFINITY, 86_400, "days"],
  ] as const;
  const [, unitSeconds, name] = units.find(([limit]) => size < limit) ?? units[3];
  const text = `${Math.floor(size / unitSeconds)} ${name}`;
  return seconds <= 0 ? `${text} ago` : `in ${text}`;
}

/** A time in a time zone, by default in that of this machine: `2026-11-20 10:08:05`. */
export function formatTime(time: Date, timeZone?: string): string {
  // Swedish dates are written as in ISO 8601.
  return new Intl.DateTimeFormat("sv-SE", {
    ...(timeZone !== undefined && { timeZone }),
    dateStyle: "short",
    timeStyle: "medium",
  }).format(time);
}
