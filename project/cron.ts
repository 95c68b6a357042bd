/**
 * When a schedule is due: pure functions of an expression, a time zone and an instant. No clock is read here.
 *
 * Glossary. *Local time* is what a wall clock in the schedule's zone shows. A *change* is an instant at which the zone's
 * offset from UTC changes: forward, it skips local times (a *gap*); backward, it repeats them. An *interval job* is one
 * whose minute or hour field begins with `*`, with a step or without; every other is a *fixed-time job*. A job is *due* at
 * an instant, always a whole local minute or the end of a gap, and at most once at an instant.
 *
 * 1. Without a change, a job is due at each local minute that its fields name.
 * 2. An interval job keeps its rhythm in elapsed time: it is due at every elapsed minute whose local time its fields
 *    name. It runs through a repeated hour twice, because two hours pass, and it has nothing to run in a gap, because
 *    no time passes there: `0 * * * *` is due each 60 minutes over both changes of a whole hour. A step counts on the
 *    clock, from the start of the hour or the day, and not from the last run: a job of every second hour is due both
 *    times that the clock shows 02:00, and not at 03:00 when it shows no 02:00.
 * 3. A fixed-time job over a change of less than three hours is due once for each local time that it names. A local
 *    time in a gap is due at the end of the gap, that is at the first instant after it; several of one job in the same
 *    gap, and one at its very end, are due there once together. A repeated local time is due the first time alone.
 *    The date and weekday that count are those of the local time that was skipped, also when the gap ends on another.
 * 4. Over a change of three hours or more every job goes by the new time at once: what was skipped is not due, what
 *    comes again is due again. These are no clock changes but corrections of a place's calendar. Pacific/Apia had no
 *    30 December 2011 and Pacific/Kwajalein no 21 August 1993, so that a daily job has no run for that date.
 *
 * The amount of a change is the only thing that counts, not its name or cause: Australia/Lord_Howe repeats and skips
 * half an hour by rule 3, and so does a zone that moves for good by an hour.
 *
 * Source: Vixie's cron(8), "Daylight Saving Time and other time changes"; its manual leaves three hours exactly open.
 */
import { nextLocal } from "./cron/calendar.ts";
import type { Cron } from "./cron/expression.ts";
import { findZone, stretchAt, type Zone } from "./cron/zone.ts";

export { checkTimeZone } from "./cron/check.ts";
export { type Cron, parseCron } from "./cron/expression.ts";

/**
 * Years after which a search gives up. The rarest date, 29 February on one weekday, comes after 40 years at most; what
 * is not found then has all its local times in gaps, as an interval job in the hour that New York skips each March.
 */
const horizonYears = 50;
const minuteMs = 60_000;
const threeHoursMs = 3 * 3_600_000;
/** More than any two offsets from UTC differ, which are -12 to +15 hours. */
const farMs = 32 * 3_600_000;

/**
 * When a job is due next.
 *
 * @param timezone - a name of the IANA time zone database
 * @param after - of the years 1900 to 9999
 * @returns the first instant strictly after `after`; null when there is none within 50 years
 * @throws Error for an unknown time zone, RangeError for a date out of range
 */
export function nextRun(cron: Cron, timezone: string, after: Date): Date | null {
  const next = search(cron, findZone(timezone), checkTime(after));
  return next === null ? null : new Date(next);
}

/**
 * The next times that a job is due, in order.
 *
 * @param count - how many at most, a whole number; fewer when there are no more within 50 years of the last
 * @throws as nextRun
 */
export function nextRuns(cron: Cron, timezone: string, after: Date, count: number): Date[] {
  return collect(cron, findZone(timezone), checkTime(after), Number.POSITIVE_INFINITY, count);
}

/**
 * The times that a job is due after `after`, until `until` and with it, in order, for a scheduler that was away.
 *
 * @param max - how many at most, a whole number; the earliest are kept
 * @throws as nextRun
 */
export function runsBetween(cron: Cron, timezone: string, after: Date, until: Date, max: number): Date[] {
  return collect(cron, findZone(timezone), checkTime(after), checkTime(until), max);
}

/**
 * The latest time that a job was due after `after`, until `until` and with it, however many there were before it.
 *
 * @returns null when it was not due in between
 * @throws as nextRun
 */
export function latestRun(cron: Cron, timezone: string, after: Date, until: Date): Date | null {
  const zone = findZone(timezone);
  const end = checkTime(until);
  let found = search(cron, zone, checkTime(after));
  if (found === null || found > end) {
    return null;
  }
  // Halves what is left: when the later half has a run, the latest is there.
  let high = end;
  while (high > found) {
    const middle = Math.floor((found + high) / 2);
    const next = search(cron, zone, middle);
    if (next !== null && next <= end) {
      found = next;
    } else {
      high = middle;
    }
  }
  return new Date(found);
}

function collect(cron: Cron, zone: Zone, after: number, until: number, max: number): Date[] {
  if (!Number.isInteger(max) || max < 0) {
    throw new RangeError(
      `Cannot list runs as the count must be a whole number of 0 or more: current value is ${max}`,
    );
  }
  const runs: Date[] = [];
  let last: number | null = after;
  while (runs.length < max) {
    last = search(cron, zone, last);
    if (last === null || last > until) {
      break;
    }
    runs.push(new Date(last));
  }
  return runs;
}

/**
 * Goes from stretch to stretch of the zone. For each it takes the local times that the stretch has to serve: by rule 3
 * they begin where the stretch before ended, so that a gap's are its own and a repeated hour's are not; by rules 2 and 4
 * they are those that its clock shows.
 */
function search(cron: Cron, zone: Zone, after: number): number | null {
  const lastYear = new Date(after).getUTCFullYear() + horizonYears;
  // No local time from `empty` until `match` is named.
  let empty = Number.NaN;
  let match = Number.NaN;
  let instant = after + 1;
  for (;;) {
    const stretch = stretchAt(zone, instant);
    const { offset, offsetBefore } = stretch;
    const seamless = !cron.interval && Math.abs(offset - offsetBefore) < threeHoursMs;
    const first = stretch.from + (seamless ? offsetBefore : offset);
    const local = instant === stretch.from ? first : Math.max(first, instant + offset);
    if (!(local >= empty && local <= match)) {
      empty = local;
      match = nextLocal(cron, Math.ceil(local / minuteMs) * minuteMs, lastYear);
      if (match === Number.POSITIVE_INFINITY) {
        return null;
      }
    }
    const due = Math.max(instant, match - offset);
    if (due < stretch.until) {
      return due;
    }
    // Changes are days apart, so that no clock shows a time before `empty` again: none is named until `match`.
    instant = stretch.until - after > farMs ? Math.max(stretch.until, match - farMs) : stretch.until;
  }
}

function checkTime(date: Date): number {
  const time = date.getTime();
  const year = date.getUTCFullYear();
  if (!(year >= 1900 && year <= 9999)) {
    throw new RangeError(
      `Cannot search for a run as the date must be of the years 1900 to 9999: current value is ${String(time)}`,
    );
  }
  return time;
}
