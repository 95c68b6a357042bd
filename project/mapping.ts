/**
 * The field mapping of a webhook, from values of the payload and other sources to parameters of the input.
 *
 * Glossary: the *path* of an entry addresses a value of the payload, and its *parameter* is the name of the value in the
 * input. The *key reading* takes the whole path as the name of one property of the payload, and has precedence. The *path
 * reading* follows the steps of the path. Other sources than the payload are described in `mapping-source.ts`.
 */
import type { FieldMapping } from "./definition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { type MappingSource, noSources, parseSource, type RequestSources } from "./mapping-source.ts";
import { type PathStep, parsePath } from "./path.ts";

/** A compiled mapping. */
export interface Mapping {
  /**
   * The input for a payload: only the mapped parameters, or the payload itself when the mapping is empty. Values are
   * shared with the payload and not copied. `unmapped` has the paths without a value, in the order of the mapping.
   */
  apply(payload: JsonObject, sources?: RequestSources): { input: JsonObject; unmapped: string[] };
  /** The result of each entry, in the order of the mapping. Empty for an empty mapping. */
  trace(payload: JsonObject, sources?: RequestSources): TraceEntry[];
  /** Whether an entry reads the headers, the query or the path of the request. */
  usesRequest: boolean;
  usesQuery: boolean;
}

/** The result of one entry for a payload. Plain JSON. */
export interface TraceEntry {
  path: string;
  parameter: string;
  found: boolean;
  /** Type of the value; null when not found. */
  type: JsonType | null;
  /** The reading or the kind of source that found it; `path` when not found. */
  reading: "key" | "path" | "source" | "default";
  /** The path up to the first missing step: `items[3]` of `items[3].sku`. Null when found. */
  stoppedAt: string | null;
  /** The reason, as a clause: `items has 2 elements`. Null when found. */
  because: string | null;
}

type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

interface Entry {
  path: string;
  parameter: string;
  /** Assigning to this parameter would set the prototype of the input. */
  setsPrototype: boolean;
  /** Empty for a source. */
  steps: readonly PathStep[];
  source: MappingSource | null;
  /** Undefined without a default. */
  fallback: JsonValue | undefined;
}

/**
 * Compiles a mapping. When two entries have the same parameter, the last one with a value takes effect; validation
 * rejects such mappings.
 *
 * @throws Error when a path or a source is invalid, see {@link parsePath} and {@link parseSource}
 */
export function compileMapping(mapping: FieldMapping): Mapping {
  const entries = mapping.map(({ path, parameter, default: fallback }): Entry => {
    const source = parseSource(path);
    const setsPrototype = parameter === "__proto__";
    return {
      path,
      parameter,
      setsPrototype,
      steps: source === null ? parsePath(path) : [],
      source,
      fallback,
    };
  });
  const kinds = new Set(entries.map(({ source }) => source?.kind ?? "constant"));
  return {
    usesRequest: kinds.has("header") || kinds.has("query") || kinds.has("path"),
    usesQuery: kinds.has("query"),
    apply(payload, sources = noSources) {
      const unmapped: string[] = [];
      if (entries.length === 0) return { input: payload, unmapped };
      const input: JsonObject = {};
      for (const entry of entries) {
        let value = valueAt(entry, payload, sources);
        if (value === undefined) value = entry.fallback;
        if (value === undefined) unmapped.push(entry.path);
        else if (entry.setsPrototype) defineProto(input, value);
        else input[entry.parameter] = value;
      }
      return { input, unmapped };
    },
    trace: (payload, sources = noSources) => entries.map((entry) => traceEntry(entry, payload, sources)),
  };
}

/** A property with the name of a source is not read: a sender could set it. */
function valueAt(
  { path, steps, source }: Entry,
  payload: JsonObject,
  sources: RequestSources,
): JsonValue | undefined {
  if (source !== null) return source.read(sources);
  // Both readings of a plain name are the same.
  const isKey = steps.length > 1 && Object.hasOwn(payload, path);
  return isKey ? payload[path] : walk(payload, steps);
}

/** The value at a path; undefined when it does not exist. */
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

function traceEntry(entry: Entry, payload: JsonObject, sources: RequestSources): TraceEntry {
  const { path, parameter, steps, source, fallback } = entry;
  const found = (value: JsonValue, reading: TraceEntry["reading"]): TraceEntry => {
    return { path, parameter, found: true, type: jsonType(value), reading, stoppedAt: null, because: null };
  };
  if (fallback !== undefined && valueAt(entry, payload, sources) === undefined) {
    return found(fallback, "default");
  }
  if (source !== null) {
    const value = source.read(sources);
    if (value !== undefined) return found(value, "source");
    const because = `the request has no ${source.kind === "header" ? "header" : "query parameter"} ${source.name}`;
    return { path, parameter, found: false, type: null, reading: "path", stoppedAt: path, because };
  }
  const atKey = Object.hasOwn(payload, path) ? payload[path] : undefined;
  // Both readings of a plain name are the same.
  if (atKey !== undefined) return found(atKey, steps.length === 1 ? "path" : "key");
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
