/** Readers of scalar values. Each returns the value, or reports a problem and returns null. */
import { isName, nameRule } from "../names.ts";
import { quoted } from "../problem.ts";
import type { View } from "./view.ts";

/** Text that is not blank and has no line breaks or other control characters. */
export function readText(view: View): string | null {
  const { value } = view;
  if (typeof value !== "string") {
    const written = view.text;
    const hint =
      typeof value === "number" || typeof value === "boolean" ? `: write "${written ?? value}"` : "";
    return view.fail(`${view.path} must be text, not ${view.description}${hint}`);
  }
  if (value.trim() === "") return view.fail(`${view.path} must not be empty`);
  if (value.length > 256)
    return view.fail(`${view.path} may have at most 256 characters, not ${value.length}`);
  if (/\p{Cc}/u.test(value)) return view.fail(`${view.path} must be one line without control characters`);
  return value;
}

/** Text of several lines, without white space around it. */
export function readDescription(view: View): string | null {
  const { value } = view;
  if (typeof value !== "string") return view.fail(`${view.path} must be text, not ${view.description}`);
  if (value.trim() === "") return view.fail(`${view.path} must not be empty`);
  if (value.length > 1024)
    return view.fail(`${view.path} may have at most 1024 characters, not ${value.length}`);
  if (/[^\P{Cc}\t\n]/u.test(value))
    return view.fail(`${view.path} may have no control characters other than tabs and line breaks`);
  return value.trim();
}

export function readName(view: View): string | null {
  const text = readText(view);
  if (text === null || isName(text)) return text;
  return view.fail(`${view.path} must be ${nameRule}, not ${quoted(text)}`);
}

export function readBoolean(view: View): boolean | null {
  const { value } = view;
  if (typeof value === "boolean") return value;
  return view.fail(`${view.path} must be true or false, not ${view.description}`);
}

export interface NumberRule {
  min: number;
  /** Whether `min` is exclusive. */
  above?: boolean;
  max: number;
  whole?: boolean;
}

export function readNumber(view: View, rule: NumberRule): number | null {
  const { value } = view;
  const { min, max, above = false, whole = false } = rule;
  const fits =
    typeof value === "number" &&
    value <= max &&
    (above ? value > min : value >= min) &&
    (!whole || Number.isInteger(value));
  if (fits) return value;
  const kind = whole ? "a whole number" : "a number";
  const range = above ? `over ${min} and at most ${max}` : `from ${min} to ${max}`;
  return view.fail(`${view.path} must be ${kind} ${range}, not ${view.description}`);
}

export function readChoice<Choice extends string>(view: View, choices: readonly Choice[]): Choice | null {
  const { value } = view;
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  const guess = typeof value === "string" ? view.didYouMean(value, choices) : "";
  return view.fail(`${view.path} must be ${listed(choices)}, not ${view.description}${guess}`);
}

/** The name of an HTTP header (RFC 9110, 5.1: a token), in lower case. */
export function readHeaderName(view: View): string | null {
  const text = readText(view);
  if (text === null) return null;
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(text)) return text.toLowerCase();
  return view.fail(`${view.path} must be the name of an HTTP header, not ${quoted(text)}`);
}

function listed(words: readonly string[]): string {
  const [last, ...others] = words.toReversed();
  return others.length === 0 ? `${last}` : `${others.toReversed().join(", ")} or ${last}`;
}
