/**
 * Checks time zone names against the runtime's copy of the IANA time zone database.
 *
 * Two forms that runtimes accept are refused. Offsets (`+05:30`) ignore daylight saving time. Abbreviations that the
 * database lacks are aliases of ICU, which Bun does not have and which surprise: `BST` is Asia/Dhaka on Node.
 */
import { suggest } from "../suggest.ts";

const databaseAbbreviations = new Set("CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET".split(" "));

/** The zone that most people mean by an abbreviation. */
const zonesByAbbreviation: ReadonlyMap<string, string> = new Map([
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
  ["NZST", "Pacific/Auckland"],
]);

/**
 * @param mayCompare - whether to search for the nearest name, which takes 4 ms
 * @throws Error that suggests the nearest name
 */
export function checkTimeZone(name: string, mayCompare: () => boolean = () => true): void {
  if (isOffset(name) || isForeignAbbreviation(name) || !isKnown(name)) {
    const shown = JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
    throw new Error(
      `Cannot use the time zone ${shown}: it must be a name of the IANA time zone database${advice(name, mayCompare)}.`,
    );
  }
}

function isOffset(name: string): boolean {
  return /^(?:UTC|GMT)?[+-]\d\d?(?::?\d\d)?$/i.test(name) && !/^GMT[+-]0$/.test(name);
}

function isForeignAbbreviation(name: string): boolean {
  return (
    /^[A-Z]{3,4}$/i.test(name) &&
    name.toLowerCase() !== "zulu" &&
    !databaseAbbreviations.has(name.toUpperCase())
  );
}

function isKnown(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function advice(name: string, mayCompare: () => boolean): string {
  const wanted = name.slice(0, 100).trim().replaceAll(/\s+/g, "_");
  if (isOffset(wanted)) return ', not an offset; name a place, such as "Asia/Kolkata"';
  const found = zonesByAbbreviation.get(wanted.toUpperCase()) ?? (mayCompare() ? nearest(wanted) : undefined);
  return found === undefined ? ', such as "UTC" or "Europe/Berlin"' : ` (did you mean "${found}"?)`;
}

/** Compares the whole name first, then the place alone: `berlin` means `Europe/Berlin`. */
function nearest(wanted: string): string | undefined {
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone")];
  const byPlace = new Map(names.map((name) => [name.slice(name.lastIndexOf("/") + 1), name]));
  return suggest(wanted, names) ?? byPlace.get(suggest(wanted, byPlace.keys()) ?? "");
}
