/**
 * One runtime's answers, one JSON document on standard output. `runtimes.test.ts` starts it on Bun and Deno and asks it
 * itself on Node. Usage: `<runtime> test/cron/runtime-check.ts <seed> <year>`.
 */

import { timeZoneNames } from "../../project/cron/names.ts";
import { findZone, stretchAt } from "../../project/cron/zone.ts";
import { checkTimeZone, nextRuns, parseCron, runsBetween } from "../../project/cron.ts";
import { cases } from "./clock-changes.ts";
import { between, randomExpression, sampleZones, seeded } from "./random.ts";
import { zoneQuestions } from "./zone-questions.ts";

export interface Answers {
  runtime: string;
  /** Lines `expression | zone | after | run, run, run`, or `expression | error`. */
  runs: string[];
  /** The same for the table of clock changes. */
  clockChanges: string[];
  /** Lines `name | error`. */
  zoneNames: string[];
  /** By name of a zone, the instants of its changes from the year asked for until 2040, and the offset after each in minutes. */
  zones: Record<string, string>;
  /** Names of the zones whose changes are others by `Temporal`; null where the runtime lacks it. */
  unlikeTemporal: string[] | null;
}

/** @param year - from which each zone is looked at; the time it takes is that of all zones, four days at a time */
export function answer(seed: number, year: number): Answers {
  const start = Date.UTC(year, 0, 10);
  const zones = Object.fromEntries([...timeZoneNames].map((name) => [name, changes(name, start).join(" ")]));
  return {
    runtime: "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node",
    runs: runLines(seed),
    clockChanges: cases.map(({ expression, zone, after, until }) => {
      const runs = runsBetween(parseCron(expression), zone, new Date(after), new Date(until), 1000);
      return `${expression} | ${zone} | ${after} | ${runs.map(Number)}`;
    }),
    zoneNames: zoneQuestions.map(([name]) => `${name} | ${attempt(() => String(checkTimeZone(name)))}`),
    zones,
    unlikeTemporal:
      "Temporal" in globalThis
        ? Object.keys(zones).filter((name) => zones[name] !== changesByTemporal(name, start))
        : null,
  };
}

const end = Date.UTC(2040, 0, 1);

function runLines(seed: number): string[] {
  const random = seeded(seed);
  return Array.from({ length: 300 }, () => randomExpression(random)).flatMap((expression) =>
    sampleZones.map((zone) => {
      const after = new Date(between(random, Date.UTC(2020, 0, 1), Date.UTC(2040, 0, 1)));
      const runs = attempt(() => String(nextRuns(parseCron(expression), zone, after, 3).map(Number)));
      return `${expression} | ${zone} | ${after.toISOString()} | ${runs}`;
    }),
  );
}

function attempt(action: () => string): string {
  try {
    return action();
  } catch (error) {
    return String(error);
  }
}

function changes(name: string, start: number): string[] {
  const zone = findZone(name);
  const found: string[] = [];
  let stretch = stretchAt(zone, start);
  while (stretch.until < end) {
    stretch = stretchAt(zone, stretch.until);
    if (stretch.offset !== stretch.offsetBefore) {
      found.push(`${stretch.from}:${stretch.offset / 60_000}`);
    }
  }
  return found;
}

/** Temporal is an oracle that reads the database itself: a change that four days between probes would miss shows here. */
function changesByTemporal(name: string, start: number): string {
  const found: string[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(name);
  for (;;) {
    const next = at.getTimeZoneTransition("next");
    if (next === null || next.epochMilliseconds >= end) {
      return found.join(" ");
    }
    // A change of the abbreviation alone is none here.
    if (next.offsetNanoseconds !== at.offsetNanoseconds) {
      found.push(`${next.epochMilliseconds}:${next.offsetNanoseconds / 60e9}`);
    }
    at = next;
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(answer(Number(process.argv[2]), Number(process.argv[3]))));
}
