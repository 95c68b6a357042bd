/** The five fields of a cron expression, in their order, as POSIX `crontab` and Vixie's crontab(5) define them. */
export interface Field {
  /** As messages call it. */
  readonly label: string;
  readonly min: number;
  readonly max: number;
  /** Names in lower case; the first stands for `min`. */
  readonly names: readonly string[];
}

export const minuteField: Field = { label: "minute", min: 0, max: 59, names: [] };
export const hourField: Field = { label: "hour", min: 0, max: 23, names: [] };
export const dayField: Field = { label: "day-of-month", min: 1, max: 31, names: [] };
export const monthField: Field = {
  label: "month",
  min: 1,
  max: 12,
  names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
/** 0 and 7 are both Sunday. */
export const weekdayField: Field = {
  label: "day-of-week",
  min: 0,
  max: 7,
  names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

/** Why an expression is refused, as the end of a sentence: what it must be and what it is. */
export class Refusal extends Error {}

/**
 * Reads one field: a list of `*`, values and ranges, where `*` and ranges may have a step.
 *
 * @returns its values in ascending order, each once, 0 to 6 for the day of the week
 * @throws Refusal
 */
export function parseField(field: Field, text: string): number[] {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    for (const value of parseItem(field, item)) {
      values.add(field === weekdayField ? value % 7 : value);
    }
  }
  return [...values].sort((a, b) => a - b);
}

const itemPattern = /^(?:(\*)|([0-9]+|[a-z]+)(?:-([0-9]+|[a-z]+))?)(?:\/([0-9]+))?$/i;

function parseItem(field: Field, item: string): number[] {
  const match = itemPattern.exec(item);
  if (match === null) {
    throw new Refusal(`${allowed(field)}${hintFor(field, item)}, not ${JSON.stringify(item)}`);
  }
  const [, star, fromText, toText, stepText] = match;
  const from = star === undefined ? parseValue(field, fromText ?? "") : field.min;
  let to = from;
  if (star !== undefined) {
    to = field.max;
  } else if (toText !== undefined) {
    to = parseValue(field, toText);
  } else if (stepText !== undefined) {
    throw new Refusal(
      `a step in the ${field.label} field must follow "*" or a range, as in "${from}-${field.max}/${stepText}", not "${item}"`,
    );
  }
  if (from > to) {
    throw new Refusal(
      `a range in the ${field.label} field must not end before it begins${inOrder(field, from, to)}, not "${item}"`,
    );
  }
  const step = stepText === undefined ? 1 : parseStep(field, stepText, item);
  const values = [];
  for (let value = from; value <= to; value += step) {
    values.push(value);
  }
  return values;
}

function parseValue(field: Field, text: string): number {
  const index = field.names.indexOf(text.toLowerCase());
  const value = index >= 0 ? field.min + index : Number(text);
  if (!(value >= field.min && value <= field.max)) {
    throw new Refusal(`${allowed(field)}${hintFor(field, text)}, not ${JSON.stringify(text)}`);
  }
  return value;
}

/** A step beyond the number of values would select the first alone, which nobody means who writes a step of 90 minutes. */
function parseStep(field: Field, text: string, item: string): number {
  const step = Number(text);
  const most = field === weekdayField ? 7 : field.max - field.min + 1;
  if (!(step >= 1 && step <= most)) {
    throw new Refusal(`a step in the ${field.label} field must be 1 to ${most}, not ${text} as in "${item}"`);
  }
  return step;
}

function allowed(field: Field): string {
  const names = field.names.length === 0 ? "" : ` or ${field.names[0]} to ${field.names.at(-1)}`;
  return `the ${field.label} field takes ${field.min} to ${field.max}${names}, "*", lists, ranges and steps`;
}

function hintFor(field: Field, text: string): string {
  const name = field.names.find((known) => text.toLowerCase().startsWith(known));
  if (name !== undefined && /^[a-z]+$/i.test(text)) {
    return ` (did you mean "${name}"?)`;
  }
  if (text.includes("?")) {
    return ' (write "*" instead of "?")';
  }
  return /[LW#]/i.test(text) ? ' ("L", "W" and "#" are not part of cron)' : "";
}

/** What an inverted range may have meant; with numbers, since `sun` is 0 and never the 7 at the end of a week. */
function inOrder(field: Field, from: number, to: number): string {
  const span = (low: number, high: number): string => (low === high ? `${low}` : `${low}-${high}`);
  if (field !== weekdayField) {
    return `: write "${span(from, field.max)},${span(field.min, to)}"`;
  }
  const begin = from % 7;
  return to === 0 || begin <= to
    ? `: write "${span(begin, to === 0 ? 7 : to)}"`
    : `: write "${span(begin, 6)},${span(0, to)}"`;
}
