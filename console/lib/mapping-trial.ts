/** What a field mapping makes of a payload, with the code of the service. */
import type { FieldMapping } from "../../project/definition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../project/json.ts";
import { compileMapping, type TraceEntry } from "../../project/mapping.ts";
import type { RequestSources } from "../../project/mapping-source.ts";

export interface Entry {
  path: string;
  parameter: string;
  /** Undefined without one. */
  fallback?: JsonValue | undefined;
}

/** The payload, or why the text is none. */
export function payloadOf(text: string): JsonObject | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `The payload is not JSON: ${error instanceof Error ? error.message : ""}`;
  }
  return isJsonObject(value) ? value : "The payload is JSON, but not an object.";
}

/** The results of the entries, or why one is invalid; empty for an incomplete one. */
export function resultsOf(
  entries: readonly Entry[],
  payload: JsonObject | string,
  sources: RequestSources,
): (TraceEntry | string)[] {
  return entries.map((entry, index) => {
    if (typeof payload === "string" || entry.path === "") return "";
    const earlier = entries.slice(0, index);
    const { path, parameter } = entry;
    if (earlier.some((one) => one.path === path)) return `The path "${path}" is given twice.`;
    const same = parameter === "" ? undefined : earlier.find((one) => one.parameter === parameter);
    if (same !== undefined)
      return `"${same.path}" and "${path}" are both mapped to the parameter "${parameter}".`;
    try {
      return compileMapping(definitionOf([entry])).trace(payload, sources)[0] ?? "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
}

/** Of the entries that are valid. */
export function inputOf(
  entries: readonly Entry[],
  results: readonly (TraceEntry | string)[],
  payload: JsonObject,
  sources: RequestSources,
): JsonObject {
  const valid = entries.filter(({ parameter }, at) => parameter !== "" && typeof results[at] !== "string");
  if (entries.length > 0 && valid.length === 0) return {};
  return compileMapping(definitionOf(valid)).apply(payload, sources).input;
}

function definitionOf(entries: readonly Entry[]): FieldMapping {
  return entries.map(({ path, parameter, fallback }) => ({
    path,
    parameter,
    ...(fallback !== undefined && { default: fallback }),
  }));
}
