/**
 * What a push or a rollback would change.
 *
 * Glossary: an *item* is an agent, a workflow, a webhook, a schedule or a file. Items of both sides are matched by
 * their *key* (`triage`, `triage/github-issue`, `agents/triage.ts`) and compared by their *traits*, each a name with
 * its value as people read it.
 */
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
  /** Of a changed item: what is different, for example `timeout: 300 s → 60 s`. */
  details: string[];
}

/** A deployment or a project, as far as it can be compared. */
export type Side = Readonly<Record<keyof Plan, Items>>;

/** Items by their keys. */
export type Items = ReadonlyMap<string, Traits>;

export type Traits = Readonly<Record<string, string>>;

/** The side of nothing at all: in comparison with it everything is new. */
export const nothing: Side = {
  agents: new Map(),
  workflows: new Map(),
  webhooks: new Map(),
  schedules: new Map(),
  files: new Map(),
};

/** Compares what is with what would be. */
export function planChanges(before: Side, after: Side): Plan {
  const files = compare(before.files, after.files);
  const paths = files.map(({ key }) => key);
  return {
    agents: withCode("agents", before, after, paths),
    workflows: withCode("workflows", before, after, paths),
    webhooks: compare(before.webhooks, after.webhooks),
    schedules: compare(before.schedules, after.schedules),
    files: files.map((change) => ({ ...change, details: [] })),
  };
}

/** Whether nothing would change. */
export function isEmpty(plan: Plan): boolean {
  return Object.values(plan).every((changes) => changes.length === 0);
}

/** Added and changed items in the order of `after`, then the removed ones. */
function compare(before: Items, after: Items): Change[] {
  const changes: Change[] = [];
  for (const [key, traits] of after) {
    const old = before.get(key);
    const details = old === undefined ? [] : differences(old, traits);
    if (old === undefined) changes.push({ change: "added", key, details });
    else if (details.length > 0) changes.push({ change: "changed", key, details });
  }
  for (const key of before.keys()) {
    if (!after.has(key)) changes.push({ change: "removed", key, details: [] });
  }
  return changes;
}

function differences(before: Traits, after: Traits): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? "none"} → ${after[name] ?? "none"}`);
}

/** Compares agents or workflows; another module behind the same name is a change too, which no trait shows. */
function withCode(
  folder: "agents" | "workflows",
  before: Side,
  after: Side,
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

/** `agents/<name>.ts` and its like, or anything under `agents/<name>/`. */
function isModuleOf(name: string, folder: string, path: string): boolean {
  const rest = path.startsWith(`${folder}/${name}`) ? path.slice(folder.length + 1 + name.length) : "";
  return rest.startsWith("/") || /^\.[mc]?[jt]s$/.test(rest);
}
