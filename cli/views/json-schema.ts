/** Shows a JSON Schema in the notation of TypeScript, which is shorter. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../project/json.ts";

/** Levels of objects that are shown; deeper ones are `{…}`. */
const maxDepth = 4;
/** Parts of one schema that are shown: references may repeat parts without end. */
const maxTotal = 300;
/** Members of one object, and alternatives of one type, that are shown. */
const maxParts = 30;

export function jsonSchemaText(schema: JsonObject): string {
  let total = 0;
  return text(schema, 0);

  function text(part: JsonValue | undefined, depth: number): string {
    if (!isJsonObject(part) || depth > maxDepth * 2) return "unknown";
    if (++total > maxTotal) return "…";
    const { $ref, anyOf, oneOf, allOf, type } = part;
    if (typeof $ref === "string") return text(referenced($ref), depth + 1);
    if ("const" in part) return JSON.stringify(part.const);
    if (Array.isArray(part.enum)) return union(part.enum.map((value) => JSON.stringify(value)));
    const options = anyOf ?? oneOf;
    if (Array.isArray(options)) return union(options.map((option) => text(option, depth + 1)));
    if (Array.isArray(allOf)) return allOf.map((each) => text(each, depth + 1)).join(" & ");
    if (Array.isArray(type)) return union(type.map((each) => text({ ...part, type: each }, depth + 1)));
    switch (type) {
      case "object":
        return object(part, depth);
      case "array":
        return array(part, depth);
      case "integer":
        return "integer";
      case "string":
        return typeof part.format === "string" ? part.format : "string";
      case "number":
      case "boolean":
      case "null":
        return type;
      default:
        return isJsonObject(part.properties) ? object(part, depth) : "unknown";
    }
  }

  function object({ properties, required, additionalProperties }: JsonObject, depth: number): string {
    const members = Object.entries(isJsonObject(properties) ? properties : {});
    const rest = isJsonObject(additionalProperties)
      ? [`[name]: ${text(additionalProperties, depth + 1)}`]
      : [];
    if (members.length === 0 && rest.length === 0) return "{}";
    if (depth >= maxDepth) return "{…}";
    const names = Array.isArray(required) ? required : [];
    const lines = members
      .slice(0, maxParts)
      .map(([name, value]) => `${name}${names.includes(name) ? "" : "?"}: ${text(value, depth + 1)}`);
    const more = members.length > maxParts ? ["…"] : [];
    return `{ ${[...lines, ...more, ...rest].join(", ")} }`;
  }

  function array({ items, prefixItems }: JsonObject, depth: number): string {
    if (Array.isArray(prefixItems)) return `[${prefixItems.map((item) => text(item, depth + 1)).join(", ")}]`;
    const item = text(items, depth + 1);
    return item.includes(" | ") && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
  }

  /** A definition of this schema. */
  function referenced(reference: string): JsonValue | undefined {
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference)?.[1] ?? "";
    const definitions = schema.$defs ?? schema.definitions;
    return isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  }
}

function union(parts: readonly string[]): string {
  const shown = [...new Set(parts)].slice(0, maxParts);
  return [...shown, ...(parts.length > maxParts ? ["…"] : [])].join(" | ");
}
