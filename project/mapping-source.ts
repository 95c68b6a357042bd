/**
 * Sources of mapped values besides the payload.
 *
 * | key | value |
 * |---|---|
 * | `$header.<name>` | a header of the request, in any letter case |
 * | `$query.<name>` | a parameter of the query; a repeated parameter is a list |
 * | `$path` | the path of the webhook: `/agent/<name>/<slug>` or `/workflow/<name>/<slug>` |
 * | `=<value>` | a constant: JSON, or text when it is not JSON |
 */
import type { JsonObject, JsonValue } from "./json.ts";

/** The parts of a request that a mapping may use besides its payload. */
export interface RequestSources {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  query: JsonObject;
  path: string;
}

export const noSources: RequestSources = { headers: {}, query: {}, path: "" };

export interface MappingSource {
  kind: "header" | "query" | "path" | "constant";
  /** Name of the header or parameter; empty for other kinds. */
  name: string;
  /** The value; undefined when the request has none. */
  read(sources: RequestSources): JsonValue | undefined;
}

/**
 * Null for a path in the payload.
 *
 * @throws Error for a header name that is not a token (RFC 9110, section 5.6.2), or an empty name
 */
export function parseSource(key: string): MappingSource | null {
  if (key.startsWith("=")) {
    const value = constant(key.slice(1));
    return { kind: "constant", name: "", read: () => value };
  }
  if (key === "$path") return { kind: "path", name: "", read: ({ path }) => path };
  if (key.startsWith("$header.")) {
    const name = key.slice("$header.".length).toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
      throw new Error(`Cannot read "${key}": a header name must follow "$header.".`);
    }
    return { kind: "header", name, read: ({ headers }) => own(headers, name) };
  }
  if (key.startsWith("$query.")) {
    const name = key.slice("$query.".length);
    if (name === "") throw new Error(`Cannot read "${key}": a parameter name must follow "$query.".`);
    return { kind: "query", name, read: ({ query }) => own(query, name) };
  }
  return null;
}

function own(values: Readonly<Record<string, JsonValue>>, name: string): JsonValue | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function constant(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
