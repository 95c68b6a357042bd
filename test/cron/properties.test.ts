import { describe, expect, test } from "vitest";
import { nextRun, nextRuns, parseCron, previousRuns } from "../../project/cron.ts";
import { rounds } from "../support/rounds.ts";
import { usedMs } from "../support/used-time.ts";
import { changesOf } from "./changes.ts";
import {
  between,
  pick,
  type Random,
  randomExpression,
  sampleZones,
  seed,
  seeded,
  validExpression,
} from "./random.ts";
import { runsBetween } from "./runs.ts";
import { matches, simulate, wallClock } from "./vixie.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(2029, 0, 1);

/** Permanent changes of less than three hours, and the time around each. */
const moves: readonly [zone: string, around: string][] = [
  ["Antarctica/Vostok", "2023-12-17T19:00:00Z"],
  ["America/Caracas", "2007-12-09T07:00:00Z"],
  ["America/Caracas", "2016-05-01T07:00:00Z"],
  ["Asia/Pyongyang", "2018-05-04T15:00:00Z"],
  ["Europe/Istanbul", "2016-09-06T21:00:00Z"],
  ["Africa/Juba", "2021-01-31T21:00:00Z"],
];

/** Expressions for each property. */
const many = rounds(200);
/** Expressions for each clock change. */
const perChange = Math.ceil(many / 250);
/** Of the clock changes, one of so many: simulating the days around all takes seconds. */
const share = rounds(0) > 0 ? 1 : 4;

describe(`properties (CRON_SEED=${seed})`, { timeout: 60_000 + many * 50 }, () => {
  const random = seeded(seed);

  test("runs around clock changes are those of Vixie's cron, minute by minute", () => {
    const places = sampleZones.flatMap((zone): [string, number][] => {
      const changes = changesOf(zone, from, to);
      return (changes.length === 0 ? [from] : changes).map((change) => [zone, change]);
    });
    let compared = 0;
    for (const [zone, change] of [
      ...places.filter((_, index) => index % share === 0),
      ...moves.map(([zone, around]): [string, number] => [zone, Date.parse(around)]),
    ]) {
      const after = change - dayMs;
      const until = change + 1.5 * dayMs;
      for (let round = 0; round < perChange; round++) {
        const expression = denseExpression(random);
        const ours = runsBetween(expression, zone, after, until);
        expect(shown(ours), context(expression, zone, after)).toEqual(
          shown(simulate(expression, zone, after, until)),
        );
        compared += ours.length;
      }
    }
    expect(compared).toBeGreaterThan(10_000 / share);
  });

  test("the next run is later, at a whole minute, matched by the fields, and the first such time", () => {
    for (let round = 0; round < many; round++) {
      const expression = validExpression(random);
      const cron = parseCron(expression);
      const zone = pick(random, sampleZones);
      const after = between(random, from, to);
      const next = nextRun(cron, zone, new Date(after))?.getTime();
      if (next === undefined) {
        throw new Error(`${context(expression, zone, after)}: no run`);
      }
      expect(next, context(expression, zone, after)).toBeGreaterThan(after);
      expect(next % minuteMs, context(expression, zone, after)).toBe(0);
      const onTheWay = between(random, after, next - 1);
      expect(nextRun(cron, zone, new Date(onTheWay))?.getTime(), context(expression, zone, onTheWay)).toBe(
        next,
      );
      const wall = wallClock(zone);
      const jump = Math.abs(wall(next).count - wall(next - minuteMs).count - 1);
      if (!matches(expression.split(" "), wall(next))) {
        // Only the end of a gap may be a local time that the fields do not match.
        expect(jump > 0 && jump < 180 && !cron.isInterval, context(expression, zone, after)).toBe(true);
      }
      const first = Math.floor(after / minuteMs) * minuteMs;
      if (next - after < 2 * dayMs) {
        expect(shown(simulate(expression, zone, first, next)), context(expression, zone, after)).toEqual(
          shown([next]),
        );
      }
    }
  });

  test("lists forwards and backwards agree with single steps", () => {
    for (let round = 0; round < many / 4; round++) {
      const expression = validExpression(random);
      const cron = parseCron(expression);
      const zone = pick(random, sampleZones);
      const after = between(random, from, to);
      const runs = nextRuns(cron, zone, new Date(after), 20);
      let last = new Date(after);
      for (const run of runs) {
        expect(nextRun(cron, zone, last), context(expression, zone, after)).toEqual(run);
        last = run;
      }
      const [start, end] = [new Date(after + 1), new Date(Number(last) + 1)];
      expect(previousRuns(cron, zone, end, start, 100).reverse(), context(expression, zone, after)).toEqual(
        runs,
      );
      expect(previousRuns(cron, zone, last, start, 3), context(expression, zone, after)).toEqual(
        runs.slice(-4, -1).reverse(),
      );
    }
  });
});

describe("rare and missing occurrences", () => {
  test("29 February on a Sunday is 28 years apart, and 40 over 2100, which is not a leap year", () => {
    const cron = parseCron("0 12 29 2 */7");
    expect(shown(nextRuns(cron, "Europe/Berlin", new Date("2030-01-01T00:00:00Z"), 1))).toEqual([
      "2032-02-29T11:00:00.000Z",
    ]);
    expect(shown([nextRun(cron, "Europe/Berlin", new Date("2088-03-01T00:00:00Z")) ?? 0])).toEqual([
      "2128-02-29T11:00:00.000Z",
    ]);
  });

  test("29 February after 2096 is in 2104", () => {
    const cron = parseCron("0 0 29 2 *");
    expect(shown([nextRun(cron, "UTC", new Date("2097-01-01")) ?? 0])).toEqual(["2104-02-29T00:00:00.000Z"]);
  });

  test("an interval job whose local times are all skipped has no run, and the search ends soon", () => {
    const cron = parseCron("* 2 8-14 3 */7");
    const from = new Date("2026-01-01T00:00:00Z");
    const took = usedMs(() => expect(nextRun(cron, "America/New_York", from)).toBeNull());
    expect(took).toBeLessThan(2_000);
    expect(nextRuns(cron, "America/New_York", new Date("2026-01-01T00:00:00Z"), 3)).toEqual([]);
    expect(previousRuns(cron, "America/New_York", new Date("2046-01-01"), new Date("2026-01-01"), 1)).toEqual(
      [],
    );
  });

  test("a window without runs is empty", () => {
    const cron = parseCron("0 0 1 1 *");
    const noon = new Date("2026-06-01T12:00:00Z");
    expect(previousRuns(cron, "UTC", noon, new Date("2026-01-02T00:00:00Z"), 10)).toEqual([]);
    expect(previousRuns(cron, "UTC", new Date("2026-01-02T00:00:00Z"), noon, 10)).toEqual([]);
  });

  test("an unknown zone is an error", () => {
    expect(() => nextRun(parseCron("* * * * *"), "Europe/Berln", new Date(0))).toThrow(/europe\/berln/);
  });
});

/** An expression that is due on most days, so that it is due near the change. */
function denseExpression(random: Random): string {
  const [minute, hour, day] = randomExpression(random).split(" ");
  return `${minute} ${hour} ${random() < 0.7 ? "*" : day} * ${pick(random, ["*", "0,6", "sun", "*/2"])}`;
}

function context(expression: string, zone: string, after: number): string {
  return `CRON_SEED=${seed}: ${expression} in ${zone} after ${new Date(after).toISOString()}`;
}

function shown(runs: (Date | number)[]): string[] {
  return runs.map((run) => new Date(run).toISOString());
}
