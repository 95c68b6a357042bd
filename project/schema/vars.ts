import { maxVarLength } from "../file/vars.ts";
import { mapOf, name, type Schema } from "./values.ts";

/** Variables by name. */
export function vars(description: string): Schema {
  const value = { type: ["string", "number", "boolean"], maxLength: maxVarLength };
  return mapOf(description, value, { propertyNames: name("Name of a variable.") });
}
