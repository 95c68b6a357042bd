import type { Condition, Scalar, SignatureDefinition } from "../../definition.ts";
import { isJsonObject } from "../../json.ts";
import { parseSource } from "../../mapping-source.ts";
import { parsePath } from "../../path.ts";
import { eventNameOf } from "../../webhook/event-names.ts";
import { patternProblem } from "../../webhook/event-pattern.ts";
import { readBoolean, readText } from "../scalars.ts";
import type { View } from "../view.ts";

/** Entries of `events`, conditions of `when`, and values of one condition. */
const maxEntries = 100;

export interface FilterViews {
  events: View | null;
  event: View | null;
  when: View | null;
}

/** The keys of the definition that `events`, `event` and `when` set. */
export interface FilterKeys {
  events?: string[];
  event?: string[];
  when?: Condition[];
}

/** Reads `events`, `event` and `when` of a webhook. */
export function readFilter(views: FilterViews, signature: SignatureDefinition | null): FilterKeys {
  const events = views.events === null ? null : readList(views.events, readPattern);
  const event = views.event === null ? null : readEvent(views.event);
  const when = views.when === null ? null : readConditions(views.when);
  if (views.event !== null && views.events === null) {
    views.event.fail(`${views.event.path} has no effect without events`);
  }
  const isNamed = signature !== null && eventNameOf(signature.scheme) !== null;
  if (views.events !== null && views.event === null && !isNamed) {
    const why =
      signature === null ? "no signature scheme to" : `the scheme ${signature.scheme}, which does not`;
    views.events.fail(
      `${views.events.path} needs the place of the event's name: add \`event: $header.<name>\` or \`event: <path>\` (the webhook has ${why} define it)`,
    );
  }
  return {
    ...(events !== null && { events }),
    ...(event !== null && { event }),
    ...(when !== null && { when }),
  };
}

function readPattern(view: View): string | null {
  const text = readText(view);
  const problem = text === null ? null : patternProblem(text);
  return problem === null ? text : view.fail(`${view.path}: ${problem}`);
}

/** One source, or up to three whose values are joined. */
function readEvent(view: View): string[] | null {
  const sources = Array.isArray(view.value) ? readList(view, readSource) : [readSource(view)];
  if (sources === null || sources.length > 3) {
    return sources === null
      ? null
      : view.fail(`${view.path} may have at most 3 parts, not ${sources.length}`);
  }
  return sources.flatMap((source) => (source === null ? [] : [source]));
}

/** The key of a field mapping, but no constant. */
function readSource(view: View): string | null {
  const text = readText(view);
  return text === null || !checkSource(text, view) ? null : text;
}

function checkSource(text: string, at: View): boolean {
  try {
    const source = parseSource(text);
    if (source === null) parsePath(text);
    else if (source.kind === "constant") {
      at.fail(`${at.path} must name a value of the request, not a constant`);
      return false;
    }
    return true;
  } catch (error) {
    at.fail((error as Error).message.replace(/\.$/, ""));
    return false;
  }
}

function readConditions(view: View): Condition[] | null {
  const entries = view.entries();
  if (entries === null) return null;
  if (entries.length === 0) return view.fail(`${view.path} must have at least one condition`);
  if (entries.length > maxEntries) return failTooMany(view, entries.length);
  const conditions: Condition[] = [];
  for (const { key: path, at, view: test } of entries) {
    const condition = readCondition(test);
    if (checkSource(path, at) && condition !== null) conditions.push({ path, ...condition });
  }
  return conditions;
}

/** A value, a list of values, or a map of `exists` and `not`. */
function readCondition(view: View): Omit<Condition, "path"> | null {
  if (!isJsonObject(view.value)) {
    const values = readValues(view);
    return values === null ? null : { in: values };
  }
  const fields = view.fields(["exists", "not"]);
  const existsView = fields?.get("exists") ?? null;
  const notView = fields?.get("not") ?? null;
  if (fields === null || (existsView === null && notView === null)) {
    return fields === null ? null : view.fail(`${view.path} must have exists, not, or both`);
  }
  const exists = existsView === null ? null : readBoolean(existsView);
  const notIn = notView === null ? null : readValues(notView);
  if ((existsView !== null && exists === null) || (notView !== null && notIn === null)) return null;
  return { ...(exists !== null && { exists }), ...(notIn !== null && { notIn }) };
}

function readValues(view: View): Scalar[] | null {
  if (Array.isArray(view.value)) {
    const values = readList(view, (item) => (isScalar(item.value) ? { value: item.value } : failValue(item)));
    return values?.map(({ value }) => value) ?? null;
  }
  return isScalar(view.value) ? [view.value] : failValue(view);
}

function isScalar(value: unknown): value is Scalar {
  if (typeof value === "string") return value.length <= 256;
  return (
    value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
  );
}

function failValue(view: View): null {
  return view.fail(
    `${view.path} must be text of at most 256 characters, a number, true, false or null, not ${view.description}`,
  );
}

function readList<Item>(view: View, read: (item: View) => Item | null): Item[] | null {
  const items = view.items();
  if (items === null) return null;
  if (items.length === 0) return view.fail(`${view.path} must have at least one entry`);
  if (items.length > maxEntries) return failTooMany(view, items.length);
  const values = items.flatMap((item) => {
    const value = read(item);
    return value === null ? [] : [value];
  });
  return values.length === items.length ? values : null;
}

function failTooMany(view: View, count: number): null {
  return view.fail(`${view.path} may have at most ${maxEntries} entries, not ${count}`);
}
