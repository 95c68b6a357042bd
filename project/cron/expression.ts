/**
 * Parses cron expressions of five fields: minute, hour, day of month, month, day of week (POSIX.1-2024 `crontab`, with
 * the names, steps and the second Sunday, 7, of Vixie's crontab(5)).
 *
 * Neither library can decide alone what is valid. node-cron and croner also accept six fields, macros, `L`, `W`, `#`
 * and `?`; node-cron accepts inverted ranges, and its messages name no allowed values.
 */
import { validate } from "node-cron";

/** A parsed expression. */
export interface Cron {
  /** Minute, hour, day of month, month and day of week, with numbers instead of names. */
  readonly fields: readonly [minute: string, hour: string, day: string, month: string, weekday: string];
  /** The minute or the hour field begins with `*`. Interval jobs and fixed-time jobs differ at clock changes. */
  readonly isInterval: boolean;
  /** Both day fields are restricted. A day then matches if either field matches it. */
  readonly isEitherDay: boolean;
}

interface Field {
  label: string;
  min: number;
  max: number;
  /** The first name stands for `min`. */
  names: readonly string[];
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const minuteField: Field = { label: "minute", min: 0, max: 59, names: [] };
const hourField: Field = { label: "hour", min: 0, max: 23, names: [] };
const dayField: Field = { label: "day-of-month", min: 1, max: 31, names: [] };
const monthField: Field = { label: "month", min: 1, max: 12, names: monthNames };
const weekdayField: Field = { label: "day-of-week", min: 0, max: 7, names: weekdayNames };

const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const maxLength = 1000;

/** Why an expression is invalid, as the end of a sentence. */
class Invalid extends Error {}

/**
 * Each field is a list of `*`, values and ranges; `*` and ranges may have a step. Names have three letters, in any case.
 * A day field that begins with `*` is not restricted, even if a step follows.
 *
 * @throws Error that names the field, the allowed values and the value; also for dates that do not exist (30 February)
 */
export function parseCron(expression: string): Cron {
  try {
    return parse(expression);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    const shown = expression.length > 100 ? `${expression.slice(0, 100)}…` : expression;
    throw new Error(`Cannot use the cron expression ${JSON.stringify(shown)}: ${error.message}.`);
  }
}

function parse(expression: string): Cron {
  const [minuteText = "", hourText = "", dayText = "", monthText = "", weekdayText = ""] = split(expression);
  const minute = parseField(minuteField, minuteText);
  const hour = parseField(hourField, hourText);
  const day = parseField(dayField, dayText);
  const month = parseField(monthField, monthText);
  const weekday = parseField(weekdayField, weekdayText);
  const isEitherDay = !day.startsWith("*") && !weekday.startsWith("*");
  // node-cron requires both day fields to match. Where either is enough, the weekday alone makes the date possible.
  if (!validate([minute, hour, isEitherDay ? "*" : day, month, weekday].join(" "))) {
    throw new Invalid(
      `one of its months must have one of its days, and day ${dayText} of month ${monthText} does not exist`,
    );
  }
  const isInterval = minute.startsWith("*") || hour.startsWith("*");
  return { fields: [minute, hour, day, month, weekday], isInterval, isEitherDay };
}

function split(expression: string): string[] {
  if (expression.length > maxLength) {
    throw new Invalid(`it must have at most ${maxLength} characters, not ${expression.length}`);
  }
  const fields = expression.trim().split(/[ \t]+/);
  const [first = ""] = fields;
  if (first.startsWith("@")) {
    const same = macros[first.toLowerCase()];
    const advice = same === undefined ? "" : `: write "${same}"`;
    throw new Invalid(
      `it must have five fields, macros such as ${JSON.stringify(first)} are not allowed${advice}`,
    );
  }
  if (fields.length !== 5) {
    const count = first === "" ? 0 : fields.length;
    const advice = count === 6 ? "; seconds and years are not supported" : "";
    throw new Invalid(
      `it must have five fields (minute, hour, day-of-month, month, day-of-week), not ${count}${advice}`,
    );
  }
  return fields;
}

function parseField(field: Field, text: string): string {
  const items = text.split(",");
  return items.map((item) => parseItem(field, item)).join(",");
}

const itemPattern = /^(?:\*|([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?)(?:\/([0-9]+))?$/i;

/** @returns the item with numbers instead of names */
function parseItem(field: Field, item: string): string {
  const match = itemPattern.exec(item);
  if (match === null) throw invalidValue(field, item);
  const [, fromText, toText, stepText] = match;
  const step = stepText === undefined ? "" : parseStep(field, stepText, item);
  if (fromText === undefined) return `*${step}`;
  const from = parseValue(field, fromText);
  if (toText === undefined) {
    if (step === "") return `${from}`;
    throw new Invalid(
      `a step in the ${field.label} field must follow "*" or a range, as in "${from}-${field.max}${step}", not "${item}"`,
    );
  }
  // Sunday ends a week (`fri-sun`) as well as it begins one.
  const to = toText.toLowerCase() === "sun" && from > 0 ? 7 : parseValue(field, toText);
  if (from <= to) return `${from}-${to}${step}`;
  const advice =
    field === weekdayField && from === 7
      ? `0-${to}`
      : `${from}-${field === weekdayField ? 6 : field.max},${field.min}-${to}`;
  throw new Invalid(
    `a range in the ${field.label} field must not end before it begins: write "${advice}", not "${item}"`,
  );
}

function parseValue(field: Field, text: string): number {
  const index = field.names.indexOf(text.toLowerCase());
  const value = index >= 0 ? field.min + index : Number(text);
  if (!(value >= field.min && value <= field.max)) throw invalidValue(field, text);
  return value;
}

/** A step greater than the number of values would select one value only: `*\/90` is not every 90 minutes. */
function parseStep(field: Field, text: string, item: string): string {
  const max = field === weekdayField ? 7 : field.max - field.min + 1;
  if (Number(text) >= 1 && Number(text) <= max) return `/${Number(text)}`;
  throw new Invalid(`a step in the ${field.label} field must be 1 to ${max}, not ${text} as in "${item}"`);
}

function invalidValue(field: Field, text: string): Invalid {
  const names = field.names.length === 0 ? "" : ` or ${field.names[0]} to ${field.names.at(-1)}`;
  const allowed = `${field.min} to ${field.max}${names}, "*", lists, ranges and steps`;
  return new Invalid(
    `the ${field.label} field takes ${allowed}${hint(field, text)}, not ${JSON.stringify(text)}`,
  );
}

function hint(field: Field, text: string): string {
  const name = field.names.find((known) => text.toLowerCase().startsWith(known));
  if (name !== undefined && /^[a-z]+$/i.test(text)) return ` (did you mean "${name}"?)`;
  if (text.includes("?")) return ' (write "*" instead of "?")';
  return /[LW#]/i.test(text) ? ' ("L", "W" and "#" are not supported)' : "";
}
