import { checkTimeZone, parseCron } from "../cron.ts";
import type { ScheduleDefinition, TargetKind } from "../definition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { readBoolean, readChoice, readName, readNumber, readText } from "./scalars.ts";
import type { Fields, View } from "./view.ts";

/** Comparisons for the suggestion of a time zone: runtimes know about 450 names, compared twice. */
const zoneComparisons = 900;

/** The largest number of schedules of one target. */
export const maxSchedules = 50;

/** Names of all targets in the file, including those with problems. */
export type TargetNames = ReadonlyMap<string, TargetKind>;

/** Reads `schedules`, which has one group for agents and one for workflows, each keyed by name. */
export function readSchedules(view: View | null, claimed: TargetNames): ScheduleDefinition[] {
  if (view === null || view.isEmpty) return [];
  const groups = view.fields(["agents", "workflows"]);
  return [
    ...readGroup(groups?.get("agents") ?? null, "agent", claimed),
    ...readGroup(groups?.get("workflows") ?? null, "workflow", claimed),
  ];
}

function readGroup(view: View | null, kind: TargetKind, claimed: TargetNames): ScheduleDefinition[] {
  const schedules: ScheduleDefinition[] = [];
  const names = [...claimed].filter(([, other]) => other === kind).map(([name]) => name);
  for (const entry of view?.entries() ?? []) {
    const holder = claimed.get(entry.key);
    if (holder === undefined) {
      entry.at.fail(
        `the project has no ${kind} "${entry.key}" to schedule${entry.at.didYouMean(entry.key, names)}`,
      );
    } else if (holder !== kind) {
      entry.at.fail(`"${entry.key}" is not ${article(kind)}: move it to schedules.${holder}s`);
    }
    if (Array.isArray(entry.view.value)) schedules.push(...readNamed(entry.view, kind, entry.key));
    else {
      const fields = entry.view.fields(keys);
      const schedule = fields === null ? null : readSchedule(fields, { kind, name: entry.key });
      if (schedule !== null) schedules.push(schedule);
    }
  }
  return schedules;
}

const keys = ["cron", "enabled", "timezone", "input", "overlap", "catch_up"] as const;

/** Reads the list of the schedules of a target. Each has a name of its own, by which it is known across deployments. */
function readNamed(view: View, kind: TargetKind, target: string): ScheduleDefinition[] {
  const items = view.items() ?? [];
  if (items.length > maxSchedules) {
    view.fail(`${view.path} may have at most ${maxSchedules} schedules, not ${items.length}`);
    return [];
  }
  const names = new Set<string>();
  return items.flatMap((item) => {
    const fields = item.fields(["name", ...keys]);
    if (fields === null) return [];
    const nameView = fields.require("name");
    const name = nameView === null ? null : readName(nameView);
    if (name !== null && names.has(name)) nameView?.fail(`${view.path} has two schedules "${name}"`);
    if (name !== null) names.add(name);
    const schedule = readSchedule(fields, { kind, name: `${target}.${name ?? ""}`, target });
    return schedule === null || name === null ? [] : [schedule];
  });
}

function readSchedule(
  fields: Fields<(typeof keys)[number]>,
  identity: Pick<ScheduleDefinition, "kind" | "name" | "target">,
): ScheduleDefinition | null {
  const cronView = fields.require("cron");
  const cron = cronView === null ? null : readChecked(cronView, parseCron);
  const zoneView = fields.get("timezone");
  const timezone =
    zoneView === null
      ? "UTC"
      : readChecked(zoneView, (text) =>
          checkTimeZone(text, () => zoneView.reserveComparisons(zoneComparisons)),
        );
  const enabledView = fields.get("enabled");
  const enabled = enabledView === null ? true : readBoolean(enabledView);
  const inputView = fields.get("input");
  const input = inputView === null ? {} : readInput(inputView);
  const overlapView = fields.get("overlap");
  const overlap =
    overlapView === null ? "skip" : readChoice(overlapView, ["skip", "queue", "allow"] as const);
  const catchUpView = fields.get("catch_up");
  const maxSeconds = 366 * 24 * 3600;
  const catchUpSeconds = catchUpView === null ? 0 : readNumber(catchUpView, { min: 0, max: maxSeconds });
  if (cron === null || timezone === null || enabled === null) return null;
  if (input === null || overlap === null || catchUpSeconds === null) return null;
  return { ...identity, cron, timezone, enabled, input, overlap, catchUpSeconds };
}

/** Text that `check` accepts. Reports the error of `check` as a problem. */
function readChecked(view: View, check: (text: string) => void): string | null {
  const text = readText(view);
  if (text === null) return null;
  try {
    check(text);
    return text;
  } catch (error) {
    return view.fail(`${view.path}: ${(error as Error).message.replace(/\.$/, "")}`);
  }
}

function readInput(view: View): JsonObject | null {
  if (!isJsonObject(view.value)) return view.fail(`${view.path} must be a map, not ${view.description}`);
  const invalid = nonFinite(view.value);
  if (invalid === null) return structuredClone(view.value);
  return view.fail(`${view.path} must be JSON, which has no ${invalid}`);
}

/** The first number that JSON cannot represent. YAML has `.inf` and `.nan`. */
function nonFinite(value: JsonValue): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? null : value;
  if (typeof value !== "object" || value === null) return null;
  for (const member of Object.values(value)) {
    const found = nonFinite(member);
    if (found !== null) return found;
  }
  return null;
}

function article(kind: TargetKind): string {
  return kind === "agent" ? "an agent" : "a workflow";
}
