/**
 * The next minute of the calendar that an expression names, with no time zone in sight.
 *
 * *Local time* is milliseconds since 1970-01-01T00:00 on the wall clock, whatever the zone's offset.
 */
import type { Cron } from "./expression.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * The first minute of local time that the expression names, at `from` or later.
 *
 * Works by months, so that 29 February on a Sunday takes some 500 steps, at most 40 years of months.
 *
 * @param from - local time, a whole minute
 * @param lastYear - where the search ends
 * @returns local time, or Infinity when there is none until the end of `lastYear`
 */
export function nextLocal(cron: Cron, from: number, lastYear: number): number {
  const start = new Date(from);
  let year = start.getUTCFullYear();
  let month = start.getUTCMonth();
  let days = daysFrom(cron, year, month, start.getUTCDate() - 1);
  if ((days & (1 << (start.getUTCDate() - 1))) !== 0) {
    const midnight = Math.floor(from / dayMs) * dayMs;
    const minute = nextMinuteOfDay(cron, (from - midnight) / minuteMs);
    if (minute >= 0) {
      return midnight + minute * minuteMs;
    }
    days &= days - 1;
  }
  while (days === 0) {
    month += 1;
    if (month === 12) {
      month = 0;
      year += 1;
      if (year > lastYear) {
        return Number.POSITIVE_INFINITY;
      }
    }
    days = daysFrom(cron, year, month, 0);
  }
  return Date.UTC(year, month, 1 + lowestBit(days)) + nextMinuteOfDay(cron, 0) * minuteMs;
}

/** The days of one month that match, bit n for day n + 1, without those before `first`. */
function daysFrom(cron: Cron, year: number, month: number, first: number): number {
  if ((cron.months & (2 << month)) === 0) {
    return 0;
  }
  const begins = Date.UTC(year, month, 1) / dayMs;
  // 1970-01-01 was a Thursday; the remainder of a day before it is negative.
  const weekday = (((begins + 4) % 7) + 7) % 7;
  const length = month === 1 ? februaryDays(year) : (monthDays[month] ?? 31);
  const inMonth = length === 31 ? 0x7fffffff : (1 << length) - 1;
  return (cron.daysByFirstWeekday[weekday] ?? 0) & inMonth & (-1 << first);
}

function februaryDays(year: number): number {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** The first matching minute of a day, `from` or later; -1 when there is none. */
function nextMinuteOfDay(cron: Cron, from: number): number {
  const hour = Math.floor(from / 60);
  if ((cron.hours & (1 << hour)) !== 0) {
    const minute = nextMinute(cron, from % 60);
    if (minute >= 0) {
      return hour * 60 + minute;
    }
  }
  const later = cron.hours & (-1 << (hour + 1));
  return later === 0 ? -1 : lowestBit(later) * 60 + nextMinute(cron, 0);
}

function nextMinute(cron: Cron, from: number): number {
  const early = from < 30 ? cron.earlyMinutes & (-1 << from) : 0;
  if (early !== 0) {
    return lowestBit(early);
  }
  const late = from > 30 ? cron.lateMinutes & (-1 << (from - 30)) : cron.lateMinutes;
  return late === 0 ? -1 : 30 + lowestBit(late);
}

function lowestBit(set: number): number {
  return 31 - Math.clz32(set & -set);
}
