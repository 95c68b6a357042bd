/** What a form for a JSON Schema of an input shows. A property that no other field can express is a field of JSON. */

export interface FormField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "json";
  /** Of a choice. */
  options: readonly string[];
  initial: unknown;
}

interface Schema {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  enum?: unknown;
  default?: unknown;
  properties?: unknown;
  required?: unknown;
}

const maxFields = 20;

/** Null when the schema is not one of an object with a few properties, or each property needs JSON. */
export function formOf(schema: unknown): readonly FormField[] | null {
  if (!isObject(schema)) return null;
  const { type, properties, required } = schema as Schema;
  if (type !== "object" || !isObject(properties)) return null;
  const entries = Object.entries(properties);
  if (entries.length === 0 || entries.length > maxFields) return null;
  const needed = Array.isArray(required) ? required : [];
  const fields = entries.map(([name, property]) => fieldOf(name, property, needed.includes(name)));
  return fields.some(({ kind }) => kind !== "json") ? fields : null;
}

function fieldOf(name: string, property: unknown, required: boolean): FormField {
  const schema: Schema = isObject(property) ? property : {};
  const { type, title, description, enum: values, default: initial } = schema;
  const base = {
    name,
    title: typeof title === "string" ? title : name,
    description: typeof description === "string" ? description : "",
    required,
    initial,
    options: [] as readonly string[],
  };
  if (Array.isArray(values) && values.every((value) => typeof value === "string")) {
    return { ...base, kind: "choice", options: values };
  }
  if (values !== undefined) return { ...base, kind: "json" };
  switch (type) {
    case "string":
      return { ...base, kind: "text" };
    case "number":
    case "integer":
    case "boolean":
      return { ...base, kind: type };
    default:
      return { ...base, kind: "json" };
  }
}

/** The value that a person typed; undefined for an empty optional field. */
export function typedValue({ kind, required }: FormField, text: string, checked: boolean): unknown {
  if (kind === "boolean") return checked;
  if (kind === "json") return text.trim() === "" ? undefined : JSON.parse(text);
  if (text === "" && !(required && kind === "text")) return undefined;
  return kind === "number" || kind === "integer" ? Number(text) : text;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
