/** Reads a webhook's payload from its bytes. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../project/json.ts";

export interface JsonLimits {
  /** Levels of nesting allowed; the payload's own braces are the first. */
  depth: number;
}

export type JsonRefusal = "not_utf8" | "not_json" | "not_object" | "too_deep" | "number_too_large";

/** The payload and its text, without a byte order mark; or one sentence for the sender that says why there is none. */
export type JsonResult =
  | { ok: true; value: JsonObject; text: string }
  | { ok: false; code: JsonRefusal; message: string };

const quote = 0x22;
const backslash = 0x5c;
/** More digits than this before its point, or an exponent, take a number beyond a double. */
const maxIntegerDigits = 308;

/** Drops a byte order mark, as RFC 8259, section 8.1 allows. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a JSON object (RFC 8259) as `JSON.parse` does: of members with one name the last counts, `__proto__` is a name
 * like any other, a number becomes the nearest double, so that integers over 2^53 lose digits, and an escaped lone
 * surrogate stays one. `text` keeps all of them as they were sent. Refused besides what is not JSON: a number too large
 * for a double, which would be written back as `null`, and nesting over the limit, found before anything is parsed.
 */
export function parseJsonObject(body: Uint8Array, limits: JsonLimits): JsonResult {
  const shape = scan(body, limits.depth);
  if (shape === "too_deep") {
    return refusal("too_deep", `The body must nest at most ${limits.depth} levels of objects and arrays.`);
  }
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return refusal("not_utf8", "The body must be UTF-8.");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refusal("not_json", "The body must be JSON.");
  }
  if (!isJsonObject(value))
    return refusal("not_object", `The body must be a JSON object, not ${nameOf(value)}.`);
  if (shape === "large_numbers" && !hasOnlyFinite(value)) {
    return refusal("number_too_large", "The body must not hold numbers beyond 1.8e308.");
  }
  return { ok: true, value, text };
}

function refusal(code: JsonRefusal, message: string): JsonResult {
  return { ok: false, code, message };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/**
 * Looks at the bytes' structure, in a quarter of the time that parsing takes and without memory of its own. Bytes that
 * are not JSON give any answer: parsing tells.
 */
function scan(body: Uint8Array, maxDepth: number): "too_deep" | "large_numbers" | "plain" {
  let depth = 0;
  let exponent = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] as number;
    // With the bit 0x20 set, `[` reads as `{`, `]` as `}` and `E` as `e`.
    const folded = byte | 0x20;
    if (byte === quote) at = endOfString(body, at + 1);
    else if (folded === 0x7b) {
      if (++depth > maxDepth) return "too_deep";
    } else if (folded === 0x7d) depth--;
    else if (folded === 0x65 && isDigit(body[at - 1])) exponent = true;
  }
  return exponent || hasLongInteger(body) ? "large_numbers" : "plain";
}

/** Where the string that goes on at `at` has its closing quote. */
function endOfString(body: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    // Most strings are shorter than a native search pays for; in long ones it is fifty times as fast.
    const near = Math.min(body.length, at + 32);
    while (at < near) {
      if (body[at] === quote) return at;
      at += body[at] === backslash ? 2 : 1;
    }
    if (at >= body.length) return body.length;
    const found = body.indexOf(quote, at);
    if (found < 0) return body.length;
    let escapes = found;
    while (escapes > at && body[escapes - 1] === backslash) escapes--;
    if ((found - escapes) % 2 === 0) return found;
    at = found + 1;
  }
}

/** Every run of digits that is too long covers a multiple of 256, so only these are looked at. */
function hasLongInteger(body: Uint8Array): boolean {
  for (let probe = 0; probe < body.length; probe += 256) {
    let from = probe;
    let to = probe;
    while (to - probe <= maxIntegerDigits && isDigit(body[to])) to++;
    if (to === probe) continue;
    while (to - from <= maxIntegerDigits && isDigit(body[from - 1])) from--;
    if (to - from > maxIntegerDigits) return true;
  }
  return false;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function hasOnlyFinite(root: JsonObject): boolean {
  const waiting: JsonValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === "number" && !Number.isFinite(value)) return false;
    if (typeof value === "object" && value !== null) {
      for (const each of Object.values(value)) waiting.push(each);
    }
  }
  return true;
}
