/** Makes a JSON Schema of a user a part of the document: its definitions become components, its references follow them. */
import type { Schema } from "./types.ts";

/** Keywords whose values are data. */
const dataKeywords = new Set(["const", "default", "enum", "examples"]);
/** Keywords whose values are schemas by name. */
const namedSchemas = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** The components for a schema: itself under `name`, and its definitions under `<name>.<definition>`. */
export function embed(schema: Schema, name: string): Record<string, Schema> {
  // The document has one dialect, and references are relative to it.
  const { $schema: _dialect, $id: _id, $defs, definitions, ...root } = schema;
  const components: Record<string, Schema> = {};
  const targets = new Map<string, string>();
  const found = Object.entries({ $defs, definitions }).flatMap(([keyword, group]) =>
    isSchema(group)
      ? Object.entries(group).map(([key, value]) => ({ path: `#/${keyword}/${key}`, key, value }))
      : [],
  );
  for (const { path, key } of found) targets.set(path, uniqueName(`${name}.${key}`, targets));
  const resolve = (reference: string): string => {
    const [, keyword = "", key = "", ...rest] = reference.split("/");
    const target = targets.get(`#/${keyword}/${decode(key)}`);
    const start = `#/components/schemas/${target ?? name}`;
    return target === undefined ? `${start}${reference.slice(1)}` : [start, ...rest].join("/");
  };
  components[name] = move(root, resolve) as Schema;
  for (const { path, value } of found) components[targets.get(path) ?? ""] = move(value, resolve) as Schema;
  return components;
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names of components have fewer characters than those of definitions. */
function uniqueName(wanted: string, taken: ReadonlyMap<string, string>): string {
  const name = wanted.replaceAll(/[^\w.-]/g, "_");
  return [...taken.values()].includes(name) ? uniqueName(`${name}_`, taken) : name;
}

/** A part of a reference: a JSON pointer in a URL. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
}

function move(value: unknown, resolve: (reference: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => move(item, resolve));
  if (!isSchema(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([keyword, inner]) => {
      if (dataKeywords.has(keyword)) return [keyword, inner];
      if (namedSchemas.has(keyword) && isSchema(inner)) {
        const named = Object.entries(inner).map(([name, schema]) => [name, move(schema, resolve)]);
        return [keyword, Object.fromEntries(named)];
      }
      const isReference = keyword === "$ref" && typeof inner === "string" && inner.startsWith("#");
      return [keyword, isReference ? resolve(inner) : move(inner, resolve)];
    }),
  );
}
