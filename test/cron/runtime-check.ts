/**
 * Prints one runtime's results as one JSON document. `runtimes.test.ts` starts it on Bun and Deno and calls it on Node.
 * Usage: `<runtime> test/cron/runtime-check.ts <seed>`.
 */
import { checkTimeZone, nextRuns, parseCron } from "../../project/cron.ts";
import { cases } from "./clock-changes.ts";
import { between, randomExpression, sampleZones, seeded } from "./random.ts";
import { runsBetween } from "./runs.ts";
import { zoneNames } from "./zone-names.ts";

export interface Results {
  runtime: string;
  /** Lines `expression | zone | after | runs or error`. */
  runs: string[];
  /** The same for the table of clock changes. */
  clockChanges: string[];
  /** Lines `name | accepted or rejected`. The suggested names depend on the runtime's list. */
  zoneNames: string[];
}

export function results(seed: number): Results {
  return {
    runtime: "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node",
    runs: runLines(seed),
    clockChanges: cases.map(({ expression, zone, after, until }) => {
      const runs = runsBetween(expression, zone, Date.parse(after), Date.parse(until));
      return `${expression} | ${zone} | ${after} | ${runs}`;
    }),
    zoneNames: zoneNames.map(([name]) => {
      const result = resultOf(() => String(checkTimeZone(name)));
      return `${name} | ${result.startsWith("Error") ? "rejected" : "accepted"}`;
    }),
  };
}

function runLines(seed: number): string[] {
  const random = seeded(seed);
  return Array.from({ length: 100 }, () => randomExpression(random)).flatMap((expression) =>
    sampleZones.map((zone) => {
      const after = new Date(between(random, Date.UTC(2020, 0, 1), Date.UTC(2040, 0, 1)));
      const runs = resultOf(() => String(nextRuns(parseCron(expression), zone, after, 3).map(Number)));
      return `${expression} | ${zone} | ${after.toISOString()} | ${runs}`;
    }),
  );
}

function resultOf(action: () => string): string {
  try {
    return action();
  } catch (error) {
    return String(error);
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(results(Number(process.argv[2]))));
}
