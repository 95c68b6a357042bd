/**
 * Reads a cron expression into bit sets.
 *
 * How node-cron shares the work: its `validate` has the last word on what this file has accepted, for the ranges, lists,
 * steps, names and dates on which it agrees with POSIX and Vixie cron. It is not asked about what it reads differently:
 * it also takes six fields, macros, `L`, `W`, `#`, `?` and inverted ranges, which are refused here before it is asked,
 * and it joins the two day fields with AND, so that it would call `0 0 30 2 1` (each Monday in February) impossible;
 * where POSIX joins them with OR it is shown `*` for the day of the month. When a run is due is never its decision.
 */
import { validate } from "node-cron";
import { dayField, hourField, minuteField, monthField, parseField, Refusal, weekdayField } from "./fields.ts";

/** A parsed expression: plain, frozen data. Bit n of a set stands for the value n, unless it says otherwise. */
export interface Cron {
  /** The five fields, as written, with one space between. */
  readonly expression: string;
  /** Whether the minute or the hour field begins with `*`; see project/cron.ts on clock changes. */
  readonly interval: boolean;
  /** Minutes 0 to 29. */
  readonly earlyMinutes: number;
  /** Minutes 30 to 59; bit n stands for 30 + n. */
  readonly lateMinutes: number;
  readonly hours: number;
  readonly months: number;
  /** The days of a month of 31 days, bit n for day n + 1, by the weekday (0 is Sunday) on which the month begins. */
  readonly daysByFirstWeekday: readonly number[];
}

const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const maxLength = 1000;
/** What was parsed lately: a scheduler reads each expression from its store at each tick. At most some 5 MB. */
const recent = new Map<string, Cron>();
const maxRecent = 10_000;

/**
 * Parses five fields: minute, hour, day of month, month, day of week, separated by spaces or tabs.
 *
 * Each is a list of `*`, values and ranges; `*` and ranges may have a step. Months and weekdays have English names of
 * three letters, in any case. When both day fields are restricted a day that matches either matches; a day field that
 * begins with `*` (a step or not) is not restricted, and then both must match. Source: POSIX.1-2024 `crontab`, and
 * Vixie's crontab(5) for names, steps and the second Sunday, 7.
 *
 * Takes some 25 microseconds, most of them in node-cron, and less than one when the expression was parsed lately.
 *
 * @throws Error that says what is wrong, what is allowed and the value; also for dates that never come, as 30 February
 */
export function parseCron(expression: string): Cron {
  try {
    let cron = recent.get(expression);
    if (cron === undefined) {
      cron = compile(expression);
      if (recent.size === maxRecent) {
        recent.clear();
      }
      recent.set(expression, cron);
    }
    return cron;
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    const shown = expression.length > 100 ? `${expression.slice(0, 100)}…` : expression;
    throw new Error(`Cannot use the cron expression ${JSON.stringify(shown)}: ${error.message}.`);
  }
}

function compile(expression: string): Cron {
  const fields = splitFields(expression);
  const [minuteText = "", hourText = "", dayText = "", monthText = "", weekdayText = ""] = fields;
  const minutes = parseField(minuteField, minuteText);
  const hours = parseField(hourField, hourText);
  const days = parseField(dayField, dayText);
  const months = parseField(monthField, monthText);
  const weekdays = parseField(weekdayField, weekdayText);
  const either = !dayText.startsWith("*") && !weekdayText.startsWith("*");
  if (!either && !months.some((month) => days.some((day) => day <= (monthDays[month - 1] ?? 0)))) {
    throw new Refusal(
      `one of its months must have one of its days, and day ${dayText} of month ${monthText} never comes`,
    );
  }
  if (!validate([minuteText, hourText, either ? "*" : dayText, monthText, weekdayText].join(" "))) {
    throw new Refusal("node-cron refuses it");
  }
  return Object.freeze({
    expression: fields.join(" "),
    interval: minuteText.startsWith("*") || hourText.startsWith("*"),
    earlyMinutes: bits(minutes.filter((minute) => minute < 30)),
    lateMinutes: bits(minutes.filter((minute) => minute >= 30).map((minute) => minute - 30)),
    hours: bits(hours),
    months: bits(months),
    daysByFirstWeekday: Object.freeze(daySets(days, weekdays, either)),
  });
}

function splitFields(expression: string): string[] {
  if (expression.length > maxLength) {
    throw new Refusal(`it must have at most ${maxLength} characters, not ${expression.length}`);
  }
  const fields = expression.trim().split(/[ \t]+/);
  const [first = ""] = fields;
  if (first.startsWith("@")) {
    const same = macros[first.toLowerCase()];
    const advice = same === undefined ? "" : `: write "${same}"`;
    throw new Refusal(
      `it must have five fields, macros such as ${JSON.stringify(first)} are not allowed${advice}`,
    );
  }
  if (fields.length !== 5) {
    const count = first === "" ? 0 : fields.length;
    const advice = count === 6 ? "; there is none for seconds and none for years" : "";
    throw new Refusal(
      `it must have five fields (minute, hour, day-of-month, month, day-of-week), not ${count}${advice}`,
    );
  }
  return fields;
}

function daySets(days: number[], weekdays: number[], either: boolean): number[] {
  const dayBits = bits(days.map((day) => day - 1));
  return [0, 1, 2, 3, 4, 5, 6].map((firstWeekday) => {
    const onWeekday = [];
    for (let day = 0; day < 31; day++) {
      if (weekdays.includes((firstWeekday + day) % 7)) {
        onWeekday.push(day);
      }
    }
    return either ? dayBits | bits(onWeekday) : dayBits & bits(onWeekday);
  });
}

function bits(values: number[]): number {
  return values.reduce((set, value) => set | (1 << value), 0);
}
