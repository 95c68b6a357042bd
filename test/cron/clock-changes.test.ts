import { describe, expect, test } from "vitest";
import { latestRun, nextRun, nextRuns, parseCron, runsBetween } from "../../project/cron.ts";
import { cases, windows } from "./clock-changes.ts";
import { simulate } from "./vixie.ts";

test("the table is as large as it must be", () => {
  expect(cases.length).toBeGreaterThanOrEqual(40);
  expect(new Set(windows.map((window) => window.zone)).size).toBeGreaterThanOrEqual(5);
});

describe.each(cases)("$expression in $zone, $change", ({ expression, zone, after, until, expected }) => {
  const cron = parseCron(expression);
  const [start, end] = [new Date(after), new Date(until)];

  test("each run, and no other", () => {
    expect(shown(runsBetween(cron, zone, start, end, 1000))).toEqual(expected);
  });

  test("the same from run to run, from a moment before each, and for the latest alone", () => {
    expect(shown(nextRuns(cron, zone, start, expected.length))).toEqual(expected);
    for (const run of expected) {
      expect(nextRun(cron, zone, new Date(Date.parse(run) - 1))?.toISOString()).toBe(run);
    }
    expect(latestRun(cron, zone, start, end)?.toISOString()).toBe(expected.at(-1));
  });
});

// The oracle of the property tests must agree with the hand as well. It steps by minutes of UTC, as Monrovia did not.
describe.each(cases.filter(({ zone }) => zone !== "Africa/Monrovia"))(
  "Vixie's algorithm: $expression in $zone, $change",
  ({ expression, zone, after, until, expected }) => {
    test("the same runs", () => {
      expect(shown(simulate(expression, zone, Date.parse(after), Date.parse(until)))).toEqual(expected);
    });
  },
);

function shown(runs: (Date | number)[]): string[] {
  return runs.map((run) => new Date(run).toISOString());
}
