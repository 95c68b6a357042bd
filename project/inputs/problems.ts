/** Finds the places in a project file that do not fit the schemas of the code. */
import { type ProjectDefinition, scheduledTarget } from "../definition.ts";
import { Report } from "../file/report.ts";
import { readSource } from "../file/source.ts";
import { View } from "../file/view.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import type { Problem } from "../problem.ts";
import { knownProperties } from "./known-properties.ts";

/** The result of loading a module. */
export interface CheckedModule {
  /** Path in the package. */
  module: string;
  /** JSON text. Absent when the module declares no schemas. */
  schemas?: { input: string | null };
  /** For each input of `inputsToCheck`: the violated rules, or null. */
  inputs?: (readonly { field: string; description: string }[] | null)[];
}

/** The inputs of schedules, by module. */
export function inputsToCheck(definition: ProjectDefinition): Record<string, JsonObject[]> {
  const inputs: Record<string, JsonObject[]> = {};
  for (const { name, module } of [...definition.agents, ...definition.workflows]) {
    const own = definition.schedules.filter((schedule) => scheduledTarget(schedule) === name);
    if (own.length > 0) inputs[module] = own.map(({ input }) => input);
  }
  return inputs;
}

/**
 * Compares the field mappings and the inputs of schedules with the schemas of the code.
 *
 * @param bytes - a valid project file
 * @returns problems in the order of the file
 */
export function inputProblems(
  bytes: Uint8Array,
  definition: ProjectDefinition,
  modules: readonly CheckedModule[],
): Problem[] {
  const byName = new Map<string, CheckedModule>();
  for (const { name, module } of [...definition.agents, ...definition.workflows]) {
    const checked = modules.find((candidate) => candidate.module === module);
    if (checked?.schemas !== undefined) byName.set(name, checked);
  }
  if (byName.size === 0) return [];
  const read = readSource(bytes);
  if ("problems" in read) return read.problems;
  const report = new Report();
  const root = new View(read.source.value, "", read.source.root, read.source, report);
  for (const kind of ["agents", "workflows"]) {
    for (const target of member(root, kind)?.items() ?? []) {
      const checked = byName.get(String(member(target, "name")?.value));
      if (checked !== undefined) checkMappings(target, checked);
    }
    for (const { key, view } of entriesOf(member(member(root, "schedules"), kind))) {
      const checked = byName.get(key);
      if (checked !== undefined) checkSchedules(view, checked);
    }
  }
  return report.problems(read.source.problem);
}

function checkMappings(target: View, { schemas }: CheckedModule): void {
  const schema: unknown = JSON.parse(schemas?.input ?? "{}");
  const known = isJsonObject(schema) ? knownProperties(schema) : null;
  if (known === null) return;
  for (const webhook of member(target, "webhooks")?.items() ?? []) {
    for (const { view } of entriesOf(member(webhook, "field_mapping"))) {
      const parameter = member(view, "parameter") ?? view;
      const name = String(parameter.value);
      if (known.includes(name)) continue;
      parameter.fail(
        `the input schema has no property "${name.slice(0, 60)}"${parameter.didYouMean(name, known)}`,
      );
    }
  }
}

/** @param view - one schedule, or a list of schedules */
function checkSchedules(view: View, { inputs = [] }: CheckedModule): void {
  const schedules = Array.isArray(view.value) ? (view.items() ?? []) : [view];
  for (const [index, schedule] of schedules.entries()) {
    for (const { field, description } of inputs[index] ?? []) {
      placeOf(schedule, field).fail(`${field} violates the input schema: ${description}`);
    }
  }
}

/** The value that a path such as `input.items[0].id` names, or the closest one that contains it. */
function placeOf(schedule: View, field: string): View {
  let view = schedule;
  for (const [, name, index] of field.matchAll(/([A-Za-z_$][\w$-]*)|\[(\d+)\]/g)) {
    const items = Array.isArray(view.value) ? view.items() : null;
    const next = name === undefined ? items?.[Number(index)] : member(view, name);
    if (next === undefined) break;
    view = next;
  }
  return view;
}

function member(view: View | undefined, key: string): View | undefined {
  return entriesOf(view).find((entry) => entry.key === key)?.view;
}

function entriesOf(view: View | undefined): { key: string; view: View }[] {
  return isJsonObject(view?.value) ? (view.entries() ?? []) : [];
}
