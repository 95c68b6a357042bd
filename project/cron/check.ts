/** Which names of time zones the project takes, the same on every runtime. */
import { timeZoneNames } from "./names.ts";

/** Names that the runtime lists, of a release of the database later than the list of this project. */
let listed: ReadonlySet<string> | undefined;

/**
 * Checks that a name is one of the IANA time zone database (zones and backward links), exactly as written there, and
 * that this runtime knows it.
 *
 * Offsets (`+05:30`), abbreviations that the database lacks (`PST`), other cases and spaces are refused, although some
 * runtimes take some of them: a project must mean the same thing on all of them.
 *
 * @throws Error with the nearest name
 */
export function checkTimeZone(name: string): void {
  if (!timeZoneNames.has(name)) {
    listed ??= new Set(Intl.supportedValuesOf("timeZone"));
    if (!listed.has(name)) {
      throw new Error(refusal(name));
    }
  }
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
  } catch (error) {
    throw new Error(
      `Cannot use the time zone ${JSON.stringify(name)}: the time zone data of this runtime must have it, and does not; a newer runtime may`,
      { cause: error },
    );
  }
}

function refusal(name: string): string {
  const shown = JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
  const rule = "it must be a name of the IANA time zone database, in its spelling";
  return `Cannot use the time zone ${shown}: ${rule}; ${advice(name)}.`;
}

/** For abbreviations that the database lacks, the place that most people mean. */
const abbreviations: Readonly<Record<string, string>> = {
  IST: "Asia/Kolkata",
  CST: "America/Chicago",
  PST: "America/Los_Angeles",
  PDT: "America/Los_Angeles",
  MDT: "America/Denver",
  CDT: "America/Chicago",
  EDT: "America/New_York",
  CEST: "Europe/Berlin",
  BST: "Europe/London",
  JST: "Asia/Tokyo",
  KST: "Asia/Seoul",
  AEST: "Australia/Sydney",
  AEDT: "Australia/Sydney",
  NZST: "Pacific/Auckland",
  NZDT: "Pacific/Auckland",
};

function advice(name: string): string {
  const offset = /^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?(\d\d))?$/i.exec(name);
  if (offset !== null) {
    const [, sign, hours, minutes = "00"] = offset;
    const etc = `Etc/GMT${sign === "+" ? "-" : "+"}${hours}`;
    return minutes === "00" && timeZoneNames.has(etc)
      ? `an offset has one with the opposite sign, "${etc}", and a place is better`
      : 'an offset has none, name a place such as "Asia/Kolkata"';
  }
  const meant = Object.hasOwn(abbreviations, name.toUpperCase())
    ? abbreviations[name.toUpperCase()]
    : undefined;
  return `the nearest is "${meant ?? nearest(name)}"`;
}

/** The name with the fewest edits, or whose place alone (`berlin`) has; the first of equals, `UTC` when none is near. */
function nearest(name: string): string {
  const wanted = simplify(name.slice(0, 64));
  let best = "UTC";
  let fewest = Math.max(2, wanted.length * 0.6);
  for (const candidate of timeZoneNames) {
    const whole = simplify(candidate);
    const place = whole.slice(whole.lastIndexOf("/") + 1);
    const edits = Math.min(distance(wanted, whole), distance(wanted, place) + 0.5);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best;
}

function simplify(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, "_");
}

/** Edits (insert, delete, replace) that turn one text into the other: the Levenshtein distance. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
