/** Describes users' schemas as JSON Schema, with Standard JSON Schema, which newer versions of the libraries implement. */
import type { Schema } from "../../../project/inputs/standard-schema.ts";
import type { Target } from "./modules.ts";
import { toJson } from "./output.ts";
import { maxSchemaBytes, maxSchemaDepth, type TargetSchemas } from "./protocol.ts";

interface Described {
  "~standard": {
    jsonSchema?: Partial<Record<"input" | "output", (options: { target: string }) => unknown>>;
  };
}

/** Null when the target has no schema. */
export function schemasOf({ input, output }: Target): TargetSchemas | null {
  if (input === undefined && output === undefined) return null;
  return {
    input: input === undefined ? null : describe(input, "input"),
    output: output === undefined ? null : describe(output, "output"),
  };
}

/** The type that callers pass or receive, as JSON text. `{}`, which accepts every value, when JSON Schema cannot express it. */
function describe(schema: Schema, side: "input" | "output"): string {
  try {
    const described = (schema as unknown as Described)["~standard"].jsonSchema?.[side]?.({ target });
    if (typeof described !== "object" || described === null || Array.isArray(described)) return unknown;
    const text = toJson(described, "the schema", maxSchemaBytes, maxSchemaDepth);
    return text.startsWith("{") ? text : unknown;
  } catch {
    // For example of a schema with a transformation, whose result only code determines.
    return unknown;
  }
}

const target = "draft-2020-12";
const unknown = "{}";
