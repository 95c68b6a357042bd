import type { EnvironmentDefinition, Vars } from "../definition.ts";
import { isName, nameRule } from "../names.ts";
import { quoted } from "../problem.ts";
import type { View } from "./view.ts";

/** UTF-16 units of the text of a variable. */
export const maxVarLength = 4096;

/** Reads `vars`: text, numbers and booleans by name. */
export function readVars(view: View | null): Vars {
  const vars: Vars = {};
  for (const { key, at, view: value } of view?.entries() ?? []) {
    if (!isName(key)) at.fail(`the name of a variable must be ${nameRule}, not ${quoted(key)}`);
    const read = readValue(value);
    if (read !== null && isName(key)) vars[key] = read;
  }
  return vars;
}

/** Reads `environments`: settings that replace those of the project in one environment. */
export function readEnvironments(view: View | null): Record<string, EnvironmentDefinition> {
  const environments: Record<string, EnvironmentDefinition> = {};
  for (const { key, at, view: entry } of view?.entries() ?? []) {
    if (!isName(key)) at.fail(`the name of an environment must be ${nameRule}, not ${quoted(key)}`);
    const fields = entry.isEmpty ? null : entry.fields(["vars"]);
    if (isName(key)) environments[key] = { vars: readVars(fields?.get("vars") ?? null) };
  }
  return environments;
}

function readValue(view: View): string | number | boolean | null {
  const { value } = view;
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return value;
  if (typeof value !== "string") {
    return view.fail(`${view.path} must be text, a number, true or false, not ${view.description}`);
  }
  if (value.length <= maxVarLength && value.isWellFormed()) return value;
  return view.fail(
    `${view.path} may have at most ${maxVarLength} characters of Unicode, not ${value.length}`,
  );
}
