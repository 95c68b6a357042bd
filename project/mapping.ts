/**
 * The field mapping of a webhook: which member of the payload becomes which input parameter.
 *
 * Glossary: an entry's *path* addresses a value of the payload, its *parameter* names it in the input. The *key
 * reading* takes the whole path as the name of one property of the payload, and wins; the *path reading* walks it.
 */
import type { FieldMapping } from "./definition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { type PathStep, parsePath } from "./path.ts";

/** A mapping made ready to be applied many times. */
export interface Mapping {
  /**
   * The input for a payload: the mapped parameters alone, or the payload itself when the mapping is empty. Values are
   * shared with the payload, not copied. `unmapped` has the paths that lead nowhere, in the order of the mapping.
   */
  apply(payload: JsonObject): { input: JsonObject; unmapped: string[] };
  /** What each entry found, in the order of the mapping; empty for an empty mapping. */
  trace(payload: JsonObject): TraceEntry[];
}

/** What one entry of a mapping found in a payload. Plain JSON. */
export interface TraceEntry {
  path: string;
  parameter: string;
  found: boolean;
  /** Type of the value found; null when none was. */
  type: JsonType | null;
  /** Which reading found it; `path` when none did. */
  reading: "key" | "path";
  /** The part of the path that is missing, from its start: `items[3]` of `items[3].sku`. Null when found. */
  stoppedAt: string | null;
  /** Why it is missing, as a clause: `items has 2 elements`. Null when found. */
  because: string | null;
}

type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

interface Entry {
  path: string;
  parameter: string;
  /** Assigning to this name would set the prototype of the input. */
  unsafe: boolean;
  steps: readonly PathStep[];
}

/**
 * Compiles a mapping. Of two entries with one parameter, the later one that finds a value wins; validation refuses
 * such mappings.
 *
 * @throws Error when a path does not parse; see {@link parsePath}
 */
export function compileMapping(mapping: FieldMapping): Mapping {
  const entries: Entry[] = mapping.map(({ path, parameter }) => ({
    path,
    parameter,
    unsafe: parameter === "__proto__",
    steps: parsePath(path),
  }));
  return {
    apply(payload) {
      const unmapped: string[] = [];
      if (entries.length === 0) return { input: payload, unmapped };
      const input: JsonObject = {};
      for (const entry of entries) {
        const value = Object.hasOwn(payload, entry.path) ? payload[entry.path] : walk(payload, entry.steps);
        if (value === undefined) unmapped.push(entry.path);
        else if (entry.unsafe) defineProto(input, value);
        else input[entry.parameter] = value;
      }
      return { input, unmapped };
    },
    trace: (payload) => entries.map((entry) => traceEntry(entry, payload)),
  };
}

/** Undefined stands for "nothing there": JSON has no such value. */
function walk(payload: JsonObject, steps: readonly PathStep[]): JsonValue | undefined {
  let value: JsonValue | undefined = payload;
  for (const step of steps) {
    value = child(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

function child(value: JsonValue, step: PathStep): JsonValue | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (typeof step === "number") return Array.isArray(value) ? value[step] : undefined;
  return !Array.isArray(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function defineProto(input: JsonObject, value: JsonValue): void {
  Object.defineProperty(input, "__proto__", { value, writable: true, enumerable: true, configurable: true });
}

function traceEntry({ path, parameter, steps }: Entry, payload: JsonObject): TraceEntry {
  const found = (value: JsonValue, reading: "key" | "path"): TraceEntry => {
    return { path, parameter, found: true, type: jsonType(value), reading, stoppedAt: null, because: null };
  };
  const whole = Object.hasOwn(payload, path) ? payload[path] : undefined;
  // A plain name reads the same both ways.
  if (whole !== undefined) return found(whole, steps.length === 1 ? "path" : "key");
  let value: JsonValue = payload;
  let walked = "";
  for (const step of steps) {
    const next = child(value, step);
    if (next === undefined) {
      const because = missing(walked === "" ? "the payload" : walked, value, step);
      return {
        path,
        parameter,
        found: false,
        type: null,
        reading: "path",
        stoppedAt: join(walked, step),
        because,
      };
    }
    value = next;
    walked = join(walked, step);
  }
  return found(value, "path");
}

function missing(holder: string, value: JsonValue, step: PathStep): string {
  if (typeof step === "number") {
    if (!Array.isArray(value)) return `${holder} is ${described(value)}, not an array`;
    return `${holder} has ${value.length} element${value.length === 1 ? "" : "s"}`;
  }
  if (!isJsonObject(value)) return `${holder} is ${described(value)}, not an object`;
  return `${holder} has no such member`;
}

function join(walked: string, step: PathStep): string {
  if (typeof step === "number") return `${walked}[${step}]`;
  return walked === "" ? step : `${walked}.${step}`;
}

function jsonType(value: JsonValue): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

function described(value: JsonValue): string {
  const type = jsonType(value);
  if (type === "null") return "null";
  return `${type === "array" || type === "object" ? "an" : "a"} ${type}`;
}
