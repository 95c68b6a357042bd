import type { EnvironmentDefinition, Vars } from "../definition.ts";
import { isName, nameRule } from "../names.ts";
import { quoted } from "../problem.ts";
import type { View } from "./view.ts";

/** UTF-16 units of the text of a variable. */
export const maxVarLength = 4096;

/**
 * Reads `vars`: text, numbers and booleans by name.
 *
 * @param places - receives the place of each name
 */
export function readVars(view: View | null, places?: Map<string, View>): Vars {
  const vars: Vars = {};
  for (const { key, at, view: value } of view?.entries() ?? []) {
    if (!isName(key)) at.fail(`the name of a variable must be ${nameRule}, not ${quoted(key)}`);
    const read = readValue(value);
    if (read === null || !isName(key)) continue;
    vars[key] = read;
    places?.set(key, at);
  }
  return vars;
}

/**
 * Reads `environments`: settings that replace those of the project in one environment.
 *
 * @param vars - of the project
 */
export function readEnvironments(view: View | null, vars: Vars): Record<string, EnvironmentDefinition> {
  const environments: Record<string, EnvironmentDefinition> = {};
  const places = new Map<string, Map<string, View>>();
  for (const { key, at, view: entry } of view?.entries() ?? []) {
    if (!isName(key)) at.fail(`the name of an environment must be ${nameRule}, not ${quoted(key)}`);
    const fields = entry.isEmpty ? null : entry.fields(["vars"]);
    if (!isName(key)) continue;
    const found = new Map<string, View>();
    environments[key] = { vars: readVars(fields?.get("vars") ?? null, found) };
    places.set(key, found);
  }
  checkSpelling(places, vars);
  return environments;
}

/**
 * Reports variables of one environment that look like a mistyped name of the project. Environments may have variables of
 * their own: a name counts as meant when two environments have it, or when the environment also has the similar name.
 */
function checkSpelling(environments: ReadonlyMap<string, ReadonlyMap<string, View>>, vars: Vars): void {
  const uses = new Map<string, number>();
  for (const name of [...environments.values()].flatMap((own) => [...own.keys()])) {
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  for (const [environment, own] of environments) {
    const candidates = Object.keys(vars).filter((name) => !own.has(name));
    for (const [name, at] of own) {
      if (Object.hasOwn(vars, name) || (uses.get(name) ?? 0) > 1) continue;
      const hint = at.didYouMean(name, candidates);
      if (hint === "") continue;
      at.fail(
        `environments.${environment}.vars.${name} is not in vars of the project${hint}; add it there if it is another variable`,
      );
    }
  }
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
