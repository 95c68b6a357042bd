/** Schemas of the values of the project file, as `project/file/scalars.ts` reads them. */

/** A JSON Schema, draft 7, which editors support. */
export type Schema = { readonly [key: string]: unknown } | false;

/** Text as a pattern of JSON Schema: not blank, one line. */
const line = "^(?=[^]*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]*$";

export function text(description: string, more: object = {}): Schema {
  return { type: "string", minLength: 1, maxLength: 256, pattern: line, description, ...more };
}

/** Text that may have line breaks. */
export function paragraphs(description: string): Schema {
  return {
    type: "string",
    minLength: 1,
    maxLength: 1024,
    pattern: "^(?=[^]*\\S)[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
    description,
  };
}

export function name(description: string, more: object = {}): Schema {
  return { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", description, ...more };
}

export function header(description: string): Schema {
  return { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$", description };
}

export function flag(description: string, standard: boolean): Schema {
  return { type: "boolean", default: standard, description };
}

export function number(description: string, range: object): Schema {
  return { type: "number", ...range, description };
}

export function choice(description: string, values: readonly unknown[], standard?: unknown): Schema {
  return { enum: values, ...(standard !== undefined && { default: standard }), description };
}

export function list(description: string, items: Schema, more: object = {}): Schema {
  return { type: "array", items, description, ...more };
}

/** A list, or a key without a value. */
export function optionalList(description: string, items: Schema): Schema {
  return { type: ["array", "null"], items, description };
}

/** A map with these keys. Keys that begin with `x-` are ignored. */
export function map(description: string, properties: Record<string, Schema>, more: object = {}): Schema {
  const rest = { patternProperties: { "^x-": true }, additionalProperties: false };
  return { type: "object", description, properties, ...rest, ...more };
}

/** A map with any keys and values of one kind. */
export function mapOf(description: string, values: Schema, more: object = {}): Schema {
  return { type: ["object", "null"], description, additionalProperties: values, ...more };
}

export function ref(definition: string): Schema {
  return { $ref: `#/definitions/${definition}` };
}

/** The week that is the longest time of a target, in seconds. */
export const weekSeconds: number = 7 * 24 * 3600;
