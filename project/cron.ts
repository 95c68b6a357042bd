/**
 * Computes when a schedule is due, from its cron expression and time zone. croner finds the occurrences.
 *
 * An *interval job* has a minute or hour field that begins with `*`. Every other job is a *fixed-time job*.
 * At a clock change, for example into or out of daylight saving time:
 *
 * - A fixed-time job whose local time is skipped runs once, at the end of the gap. A fixed-time job whose local time is
 *   repeated runs the first time only.
 * - An interval job runs at every local time that its fields match: not in a gap, and twice in a repeated hour.
 *
 * These are the rules of Vixie's cron(8), with two exceptions that come from croner:
 *
 * - The size of the change does not matter. Vixie's cron treats a change of three hours or more as a correction of the
 *   clock: it skips jobs in the gap and repeats jobs in the repeated time. The last such change was Antarctica/Casey in March 2023.
 * - A skipped local time has no run if the gap ends on another date. This affects jobs between 23:00 and 23:59 in
 *   America/Nuuk and America/Scoresbysund on the last Saturday of March, and dates that a zone left out, such as
 *   30 December 2011 in Pacific/Apia.
 */
import { Cron as Croner } from "croner";
import type { Cron } from "./cron/expression.ts";

export { type Cron, parseCron } from "./cron/expression.ts";
export { checkTimeZone } from "./cron/time-zone.ts";

/**
 * Years that a search covers. The rarest date, 29 February on a given weekday, is up to 40 years away. croner's own limit
 * is 400 years: an interval job whose local times are all in gaps blocked the event loop for 1.4 s.
 */
const maxYears = 50;

/** @returns the first occurrence after `after`, or null if there is none within 50 years */
export function nextRun(cron: Cron, timezone: string, after: Date): Date | null {
  const year = after.getUTCFullYear();
  return cronerOf(cron, timezone, year - 1, year + maxYears).nextRun(after);
}

/** @returns up to `count` occurrences after `after`, the earliest first, within 50 years */
export function nextRuns(cron: Cron, timezone: string, after: Date, count: number): Date[] {
  const year = after.getUTCFullYear();
  return cronerOf(cron, timezone, year - 1, year + maxYears).nextRuns(count, after);
}

/** @returns up to `count` occurrences before `before` and not before `notBefore`, the latest first */
export function previousRuns(
  cron: Cron,
  timezone: string,
  before: Date,
  notBefore: Date,
  count: number,
): Date[] {
  const croner = cronerOf(cron, timezone, notBefore.getUTCFullYear() - 1, before.getUTCFullYear() + 1);
  return croner.previousRuns(count, before).filter((run) => run >= notBefore);
}

/** A new object each time: croner keeps 80 kB in each, and creates one in about 15 µs. */
function cronerOf(cron: Cron, timezone: string, firstYear: number, lastYear: number): Croner {
  const [minute, hour, day, month, weekday] = cron.fields;
  const times = cron.isInterval ? [minute, hour] : [listValues(minute, 59), listValues(hour, 23)];
  return new Croner(["0", ...times, day, month, weekday, `${firstYear}-${lastYear}`].join(" "), {
    mode: "7-part",
    // An offset spares croner the Intl calls, which take most of its time. Names are in lower case because croner keeps
    // a formatter for each spelling of a name.
    ...(timezone === "UTC" ? { utcOffset: 0 } : { timezone: timezone.toLowerCase() }),
    domAndDow: !cron.isEitherDay,
    fixedTimeRule: "no-wildcard",
  });
}

/** Replaces `*` and steps by lists of values: for croner, a field with one of these makes an interval job. */
function listValues(field: string, max: number): string {
  return field
    .split(",")
    .flatMap((item) => {
      const [range = "", step = "1"] = item.split("/");
      const [from = 0, to = from] = range === "*" ? [0, max] : range.split("-").map(Number);
      const size = Math.floor((to - from) / Number(step)) + 1;
      return Array.from({ length: size }, (_, index) => from + index * Number(step));
    })
    .join(",");
}
