/** Which names of time zones the project takes, the same on every runtime. */
import { suggest } from "../suggest.ts";
import { timeZoneNames } from "./names.ts";

/** Names that were found to be good: a formatter, which proves it, costs up to a millisecond. */
const checked = new Set<string>();
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
  if (checked.has(name)) {
    return;
  }
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
      `Cannot use the time zone "${name}": the time zone data of this runtime must have it, and does not.`,
      { cause: error },
    );
  }
  checked.add(name);
}

function refusal(name: string): string {
  const shown = JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
  return `Cannot use the time zone ${shown}: it must be a name of the IANA time zone database, as written there${advice(name)}.`;
}

/** For abbreviations that the database lacks, the place that most people mean. */
const abbreviations: ReadonlyMap<string, string> = new Map([
  ["PST", "America/Los_Angeles"],
  ["PDT", "America/Los_Angeles"],
  ["MDT", "America/Denver"],
  ["CST", "America/Chicago"],
  ["CDT", "America/Chicago"],
  ["EDT", "America/New_York"],
  ["CEST", "Europe/Berlin"],
  ["BST", "Europe/London"],
  ["IST", "Asia/Kolkata"],
  ["JST", "Asia/Tokyo"],
  ["KST", "Asia/Seoul"],
  ["AEST", "Australia/Sydney"],
  ["AEDT", "Australia/Sydney"],
  ["NZST", "Pacific/Auckland"],
  ["NZDT", "Pacific/Auckland"],
]);

function advice(name: string): string {
  const wanted = name.slice(0, 100).trim().replaceAll(/\s+/g, "_");
  const offset = /^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?(\d\d))?$/i.exec(wanted);
  if (offset !== null) {
    const [, sign, hours, minutes = "00"] = offset;
    const etc = `Etc/GMT${sign === "+" ? "-" : "+"}${hours}`;
    return minutes === "00" && timeZoneNames.has(etc)
      ? `, and not an offset (its sign is the opposite in "${etc}")`
      : ', and not an offset (name a place, such as "Asia/Kolkata")';
  }
  const found = abbreviations.get(wanted.toUpperCase()) ?? nearest(wanted);
  return found === undefined ? ', such as "UTC" or "Europe/Berlin"' : ` (did you mean "${found}"?)`;
}

/** The name nearest to the whole, or whose place is nearest: `berlin` means `Europe/Berlin`. */
function nearest(wanted: string): string | undefined {
  const whole = suggest(wanted, timeZoneNames);
  if (whole !== undefined) {
    return whole;
  }
  const byPlace = new Map([...timeZoneNames].map((name) => [name.slice(name.lastIndexOf("/") + 1), name]));
  const place = suggest(wanted, byPlace.keys());
  return place === undefined ? undefined : byPlace.get(place);
}
