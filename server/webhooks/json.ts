/** Parses a webhook's payload. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../project/json.ts";

export interface JsonLimits {
  /** Allowed levels of nesting; the payload itself is the first. */
  depth: number;
}

export type JsonViolation = "too_deep" | "number_too_large";
export type JsonRefusal = "not_utf8" | "not_json" | "not_object" | "number_inexact" | JsonViolation;
/** `large_integer`: a number that may be a rounded integer. */
type Finding = JsonViolation | "large_integer";

/** The payload and its text without a byte order mark, or one sentence for the sender that names the violated rule. */
export type JsonResult = { ok: true; value: JsonObject; text: string } | Refusal;

interface Refusal {
  ok: false;
  code: JsonRefusal;
  message: string;
}

/** Drops a byte order mark, as RFC 8259, section 8.1 allows. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a JSON object (RFC 8259) with `JSON.parse`: the last of duplicate members wins, `__proto__` is an ordinary name,
 * and an escaped lone surrogate is kept. `text` is the body as sent. Also refused: a number too large for a double, which
 * would be stored as `null`, an integer that a double rounds, and nesting over the limit.
 */
export function parseJsonObject(body: Uint8Array, limits: JsonLimits): JsonResult {
  const parsed = parse(body);
  if (!parsed.ok) return parsed;
  const { value, text } = parsed;
  if (!isJsonObject(value))
    return refusal("not_object", `The body must be a JSON object, not ${nameOf(value)}.`);
  const finding = inObject(value, limits.depth, false);
  if (finding === null) return { ok: true, value, text };
  // The literals are read only when the value has a large integer, so that other bodies cost nothing more.
  const rounded = finding === "large_integer" ? roundedInteger(text) : null;
  if (rounded !== null) return refusal("number_inexact", roundedMessage(rounded));
  const violation = findViolation(value, limits.depth);
  if (violation !== null) return refusal(violation, violationMessage(violation, limits.depth));
  return { ok: true, value, text };
}

export type AnyJsonResult = { ok: true; value: JsonValue; text: string } | Refusal;

/** Parses any JSON, without the limit on nesting. An integer that a double rounds is refused. */
export function parseJson(body: Uint8Array): AnyJsonResult {
  const parsed = parse(body);
  const rounded = parsed.ok && manyDigits.test(parsed.text) ? roundedInteger(parsed.text) : null;
  return rounded === null ? parsed : refusal("number_inexact", roundedMessage(rounded));
}

/** The refusal of a JSON body with an integer that a double rounds. Null for any other body, also when it is no JSON. */
export function refuseRounded(body: Uint8Array): Refusal | null {
  if (!manyDigits.test(Buffer.from(body).toString("latin1"))) return null;
  const parsed = parseJson(body);
  return parsed.ok || parsed.code !== "number_inexact" ? null : parsed;
}

function parse(body: Uint8Array): AnyJsonResult {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return refusal("not_utf8", "The body must be UTF-8.");
  }
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue, text };
  } catch {
    return refusal("not_json", "The body must be JSON.");
  }
}

export function violationMessage(violation: JsonViolation, depth: number): string {
  if (violation === "too_deep")
    return `The body must nest at most ${depth} levels of objects and arrays (SVC_MAX_JSON_DEPTH).`;
  return "The body must not hold numbers beyond 1.8e308.";
}

export function roundedMessage(path: string): string {
  const place = path === "" ? "of the body" : `at ${path.slice(0, 200)}`;
  return `The integer ${place} is beyond 2^53 - 1 and would lose digits; send it as a string.`;
}

/** Shorter integers are exact. */
const manyDigits = /\d{16}/;

/**
 * The path of the first integer that a double rounds, or null. A number with a fraction or an exponent is a measurement,
 * which may be rounded. `JSON.parse` with a reviver shows the literals too, but recursion on deep values exhausts the stack.
 *
 * @param text - valid JSON
 */
function roundedInteger(text: string): string | null {
  /** The way to the current value: indexes, and names as JSON. */
  const path: (string | number)[] = [];
  const tokens = /["[\]{},]|-?\d[\d.eE+-]*/g;
  let isName = false;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [token] = match;
    const last = path.at(-1);
    if (token === '"') {
      tokens.lastIndex = endOfString(text, match.index);
      if (isName) path[path.length - 1] = text.slice(match.index, tokens.lastIndex);
      isName = false;
    } else if (token === "[" || token === "{") {
      isName = token === "{";
      path.push(isName ? "" : 0);
    } else if (token === "]" || token === "}") {
      path.pop();
    } else if (token === ",") {
      isName = typeof last === "string";
      if (typeof last === "number") path[path.length - 1] = last + 1;
    } else if (isRounded(token)) {
      return textOf(path);
    }
  }
  return null;
}

/** The position after the string that starts at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === "\\") first--;
    if ((end - first) % 2 === 0) return end + 1;
  }
}

function isRounded(literal: string): boolean {
  if (literal.length < 16 || !/^-?\d+$/.test(literal)) return false;
  const value = Number(literal);
  return !Number.isFinite(value) || (!Number.isSafeInteger(value) && BigInt(value) !== BigInt(literal));
}

function textOf(path: readonly (string | number)[]): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${JSON.parse(step)}`));
  return steps.join("").replace(/^\./, "");
}

/** The first violation within an object or array. */
export function findViolation(container: JsonObject | JsonValue[], levels: number): JsonViolation | null {
  const finding = inObject(container, levels, true);
  return finding === "large_integer" ? null : finding;
}

/** Recursion ends at the limit of levels, so a deep value cannot exhaust the stack. */
function inObject(container: JsonObject | JsonValue[], levels: number, allowsLarge: boolean): Finding | null {
  if (levels === 0) return "too_deep";
  // These loops take a quarter of the time of Object.values and for-of.
  if (Array.isArray(container)) {
    for (let at = 0; at < container.length; at++) {
      const finding = inValue(container[at], levels, allowsLarge);
      if (finding !== null) return finding;
    }
    return null;
  }
  for (const name in container) {
    const finding = inValue(container[name], levels, allowsLarge);
    if (finding !== null) return finding;
  }
  return null;
}

function inValue(value: JsonValue | undefined, levels: number, allowsLarge: boolean): Finding | null {
  if (typeof value === "object") return value === null ? null : inObject(value, levels - 1, allowsLarge);
  if (typeof value !== "number") return null;
  if (!Number.isFinite(value)) return "number_too_large";
  // From 2^53 on all doubles are integers.
  return allowsLarge || Math.abs(value) <= Number.MAX_SAFE_INTEGER ? null : "large_integer";
}

function refusal(code: JsonRefusal, message: string): Refusal {
  return { ok: false, code, message };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
