/** The properties that a JSON Schema names. */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";

/** Schemas visited for one answer: references may form cycles, and unions may nest. */
const maxVisits = 200;

/**
 * The names of the properties of an object schema. A property that it does not name counts as unknown, also where the
 * schema does not forbid it, because libraries drop such a property from the input.
 *
 * @returns null when any name may be a property, or when the schema does not tell
 */
export function knownProperties(schema: JsonObject): string[] | null {
  const names = new Set<string>();
  let visits = 0;
  return collect(schema) ? [...names] : null;

  /** False when any name may be a property. */
  function collect(part: JsonValue | undefined): boolean {
    if (!isJsonObject(part) || ++visits > maxVisits) return false;
    const { $ref, allOf, anyOf, oneOf, properties, additionalProperties, patternProperties } = part;
    if (patternProperties !== undefined || part.if !== undefined) return false;
    if (additionalProperties !== undefined && additionalProperties !== false) return false;
    let isKnown = false;
    if (isJsonObject(properties)) {
      for (const name of Object.keys(properties)) names.add(name);
      isKnown = true;
    } else if (additionalProperties === false) isKnown = true;
    if (typeof $ref === "string") {
      if (!collect(resolve($ref))) return false;
      isKnown = true;
    }
    for (const [list, every] of [
      [allOf, false],
      [anyOf, true],
      [oneOf, true],
    ] as const) {
      if (!Array.isArray(list)) continue;
      const known = list.map(collect);
      if (every ? known.includes(false) : !known.includes(true)) return false;
      isKnown = true;
    }
    return isKnown;
  }

  /** A reference within the schema, such as `#/$defs/item`. */
  function resolve(reference: string): JsonValue | undefined {
    if (!reference.startsWith("#")) return undefined;
    let value: JsonValue | undefined = schema;
    for (const step of reference.slice(1).split("/").slice(1)) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    }
    return value;
  }
}
