/**
 * Decides which requests to a webhook start an execution: by the name of the event (`events`) and by conditions on values
 * (`when`). A request must match one pattern of `events` and all conditions of `when`.
 *
 * Values are named as the keys of a field mapping are. They are compared as text, because headers, queries and forms carry
 * nothing else; `null` equals only `null`, and objects and arrays equal nothing.
 */
import type { Condition, Scalar, WebhookDefinition } from "../definition.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { compileMapping } from "../mapping.ts";
import type { RequestSources } from "../mapping-source.ts";
import { eventNameOf, type NamePart } from "./event-names.ts";
import { compilePatterns, maxEventNameLength } from "./event-pattern.ts";

export interface Filter {
  /** Why the request is ignored, as one sentence; null when it starts an execution. */
  ignores(payload: JsonObject, sources: RequestSources): string | null;
  /** The name of the event; null without `events`, and for a request without a name. */
  eventOf(payload: JsonObject, sources: RequestSources): string | null;
  /** Whether it reads the headers, the query or the path of the request. */
  usesRequest: boolean;
}

type Read = (payload: JsonObject, sources: RequestSources) => JsonValue | undefined;

/** Null for a webhook without a filter. @throws Error when a path is invalid; validation rejects it */
export function compileFilter(definition: WebhookDefinition): Filter | null {
  const { events, when = [] } = definition;
  if (events === undefined && when.length === 0) return null;
  const keys = [...when.map(({ path }) => path), ...(events === undefined ? [] : partsOf(definition).flat())];
  const mapping = keys.map((path) => ({ path, parameter: "" }));
  const eventOf = events === undefined ? () => [] : nameReader(partsOf(definition));
  const matchesEvent = compilePatterns(events ?? []);
  const conditions = when.map((condition) => ({ condition, read: reader(condition.path) }));
  return {
    usesRequest: compileMapping(mapping).usesRequest,
    eventOf: (payload, sources) => eventOf(payload, sources).at(-1) ?? null,
    ignores(payload, sources) {
      if (events !== undefined) {
        const names = eventOf(payload, sources);
        const name = names.at(-1);
        if (name === undefined) return "The request does not name its event.";
        if (!names.some(matchesEvent)) return `The event ${shown(name)} is not in events.`;
      }
      for (const { condition, read } of conditions) {
        const problem = violation(condition, read(payload, sources));
        if (problem !== null)
          return `The condition on ${condition.path} does not hold: the value ${problem}.`;
      }
      return null;
    },
  };
}

function partsOf({ event, signature }: WebhookDefinition): readonly NamePart[] {
  if (event !== undefined) return event.map((source) => [source]);
  return signature === null ? [] : (eventNameOf(signature.scheme) ?? []);
}

/** Reads the first part, and all parts joined by `.`: `issues` and `issues.opened`. Empty without a first part. */
function nameReader(parts: readonly NamePart[]): (payload: JsonObject, sources: RequestSources) => string[] {
  const readers = parts.map((sources) => sources.map(reader));
  return (payload, sources) => {
    const texts: string[] = [];
    for (const alternatives of readers) {
      const text = firstText(alternatives, payload, sources);
      if (text === null) break;
      texts.push(text);
    }
    const [first] = texts;
    if (first === undefined) return [];
    return texts.length === 1 ? [first] : [first, texts.join(".")];
  };
}

function firstText(readers: readonly Read[], payload: JsonObject, sources: RequestSources): string | null {
  for (const read of readers) {
    const value = read(payload, sources);
    if (typeof value === "number" || (typeof value === "string" && value !== "")) return String(value);
  }
  return null;
}

function reader(path: string): Read {
  const mapping = compileMapping([{ path, parameter: "value" }]);
  return (payload, sources) => mapping.apply(payload, sources).input.value;
}

/** The violated rule, as a clause that does not repeat the value; null when the condition holds. */
function violation({ exists, in: allowed, notIn }: Condition, value: JsonValue | undefined): string | null {
  if (exists === false && value !== undefined) return "exists";
  if (exists === true && value === undefined) return "does not exist";
  if (allowed !== undefined) {
    if (value === undefined) return "does not exist";
    if (!allowed.some((scalar) => equals(value, scalar))) return "is not one of those listed";
  }
  if (notIn?.some((scalar) => value !== undefined && equals(value, scalar))) return "is one that is excluded";
  return null;
}

function equals(value: JsonValue, scalar: Scalar): boolean {
  if (value === null || scalar === null) return value === scalar;
  return typeof value !== "object" && String(value) === String(scalar);
}

function shown(name: string): string {
  return name.length > maxEventNameLength ? `${name.slice(0, maxEventNameLength)}…` : name;
}
