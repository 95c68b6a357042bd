/**
 * The changes of a push, a rollback or a promotion.
 *
 * Glossary: a *snapshot* describes a project or a deployment by its *items*: agents, workflows, webhooks, schedules and
 * files. Items of two snapshots are matched by their *key* (`triage`, `triage/github-issue`, `agents/triage.ts`) and
 * compared by their *attributes*, each a name and the value as displayed.
 */
import { mapFolder } from "../names.ts";

export interface Plan {
  agents: Change[];
  workflows: Change[];
  webhooks: Change[];
  schedules: Change[];
  files: Change[];
}

export interface Change {
  change: "added" | "changed" | "removed";
  key: string;
  /** For a changed item, for example `timeout: 300 s → 60 s`. */
  details: string[];
}

/** The items of a deployment or a project. */
export type Snapshot = Readonly<Record<keyof Plan, Items>>;

/** Items by key. */
export type Items = ReadonlyMap<string, Attributes>;

export type Attributes = Readonly<Record<string, string>>;

/** The snapshot before the first deployment. */
export const emptySnapshot: Snapshot = {
  agents: new Map(),
  workflows: new Map(),
  webhooks: new Map(),
  schedules: new Map(),
  files: new Map(),
};

/** Compares two snapshots. */
export function planChanges(before: Snapshot, after: Snapshot): Plan {
  const files = withoutMaps(compare(before.files, after.files));
  const paths = files.map(({ key }) => key);
  return {
    agents: compareTargets("agents", before, after, paths),
    workflows: compareTargets("workflows", before, after, paths),
    webhooks: compare(before.webhooks, after.webhooks),
    schedules: compare(before.schedules, after.schedules),
    files: files.map((change) => ({ ...change, details: [] })),
  };
}

/**
 * Replaces the changes of source maps, which are no files of the project, by changes of their modules. After a change of a
 * comment, only the source map of the compiled module differs.
 */
function withoutMaps(changes: readonly Change[]): Change[] {
  const prefix = `${mapFolder}/`;
  const files = new Map(changes.filter(({ key }) => !key.startsWith(prefix)).map((file) => [file.key, file]));
  for (const { key } of changes) {
    if (!key.startsWith(prefix)) continue;
    const path = key.slice(prefix.length, -".map".length);
    if (!files.has(path)) files.set(path, { change: "changed", key: path, details: [] });
  }
  return [...files.values()];
}

/** Returns added and changed items in the order of `after`, then removed items. */
function compare(before: Items, after: Items): Change[] {
  const changes: Change[] = [];
  for (const [key, attributes] of after) {
    const old = before.get(key);
    const details = old === undefined ? [] : differences(old, attributes);
    if (old === undefined) changes.push({ change: "added", key, details });
    else if (details.length > 0) changes.push({ change: "changed", key, details });
  }
  for (const key of before.keys()) {
    if (!after.has(key)) changes.push({ change: "removed", key, details: [] });
  }
  return changes;
}

function differences(before: Attributes, after: Attributes): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? "none"} → ${after[name] ?? "none"}`);
}

/** Compares agents or workflows. A change of the module is a change too, which no attribute shows. */
function compareTargets(
  folder: "agents" | "workflows",
  before: Snapshot,
  after: Snapshot,
  paths: readonly string[],
): Change[] {
  const changes = compare(before[folder], after[folder]);
  for (const name of after[folder].keys()) {
    if (!before[folder].has(name) || !paths.some((path) => isModuleOf(name, folder, path))) continue;
    const known = changes.find(({ key }) => key === name);
    if (known === undefined) changes.push({ change: "changed", key: name, details: ["code"] });
    else known.details.push("code");
  }
  return changes;
}

/** Matches `agents/<name>.ts`, with any module extension, and every file under `agents/<name>/`. */
function isModuleOf(name: string, folder: string, path: string): boolean {
  const rest = path.startsWith(`${folder}/${name}`) ? path.slice(folder.length + 1 + name.length) : "";
  return rest.startsWith("/") || /^\.[mc]?[jt]s$/.test(rest);
}
