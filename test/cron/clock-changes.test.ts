import { describe, expect, test } from "vitest";
import { nextRun, nextRuns, parseCron, previousRuns } from "../../project/cron.ts";
import { cases } from "./clock-changes.ts";
import { runsBetween } from "./runs.ts";

describe.each(cases)("$expression in $zone, $change", ({ expression, zone, after, until, expected }) => {
  const cron = parseCron(expression);
  const [start, end] = [new Date(after), new Date(until)];

  test("has the listed runs and no other", () => {
    expect(shown(runsBetween(expression, zone, Number(start), Number(end)))).toEqual(expected);
  });

  test("has the same runs one by one and backwards", () => {
    expect(shown(nextRuns(cron, zone, start, expected.length))).toEqual(expected);
    for (const run of expected) {
      expect(nextRun(cron, zone, new Date(Date.parse(run) - 1))?.toISOString()).toBe(run);
    }
    const [afterEnd, firstMoment] = [new Date(Number(end) + 1), new Date(Number(start) + 1)];
    const backwards = previousRuns(cron, zone, afterEnd, firstMoment, expected.length + 1);
    expect(shown(backwards.reverse())).toEqual(expected);
  });
});

function shown(runs: (Date | number)[]): string[] {
  return runs.map((run) => new Date(run).toISOString());
}
