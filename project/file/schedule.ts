import { checkTimeZone, parseCron } from "../cron.ts";
import type { ScheduleDefinition, TargetKind } from "../definition.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { readBoolean, readChoice, readNumber, readText } from "./scalars.ts";
import type { View } from "./view.ts";

/** Comparisons for the suggestion of a time zone: runtimes know about 450 names, compared twice. */
const zoneComparisons = 900;

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
    const schedule = readSchedule(entry.view, kind, entry.key);
    if (schedule !== null) schedules.push(schedule);
  }
  return schedules;
}

function readSchedule(view: View, kind: TargetKind, name: string): ScheduleDefinition | null {
  const fields = view.fields(["cron", "enabled", "timezone", "input", "overlap", "catch_up"]);
  if (fields === null) return null;
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
  return { kind, name, cron, timezone, enabled, input, overlap, catchUpSeconds };
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
