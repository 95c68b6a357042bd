import { describe, expect, test } from "vitest";
import { findZone } from "../../project/cron/zone.ts";
import { type Cron, latestRun, nextRun, nextRuns, parseCron, runsBetween } from "../../project/cron.ts";
import { rounds } from "../support/rounds.ts";
import { changesOf } from "./changes.ts";
import {
  between,
  pick,
  type Random,
  randomCron,
  randomExpression,
  sampleZones,
  seed,
  seeded,
} from "./random.ts";
import { matches, simulate, wallClock } from "./vixie.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;
const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(2029, 0, 1);

/** Zones that moved for good, by half an hour, by hours or by a day, and the times around it. */
const moves: readonly [zone: string, around: string][] = [
  ["Pacific/Apia", "2011-12-30T10:00:00Z"],
  ["Pacific/Kwajalein", "1993-08-21T12:00:00Z"],
  ["Antarctica/Casey", "2023-03-08T16:00:00Z"],
  ["Antarctica/Vostok", "2023-12-17T19:00:00Z"],
  ["America/Caracas", "2007-12-09T07:00:00Z"],
  ["America/Caracas", "2016-05-01T07:00:00Z"],
  ["Asia/Pyongyang", "2015-08-14T15:00:00Z"],
  ["Asia/Pyongyang", "2018-05-04T15:00:00Z"],
  ["Europe/Istanbul", "2016-09-06T21:00:00Z"],
  ["Africa/Juba", "2021-01-31T21:00:00Z"],
];

/** Expressions of a property. */
const many = rounds(500);
/** Expressions around each clock change. */
const perChange = Math.ceil(many / 250);

describe(`properties (CRON_SEED=${seed})`, { timeout: 60_000 + many * 50 }, () => {
  const random = seeded(seed);

  test("the runs around clock changes are those of Vixie's algorithm, each minute looked at", () => {
    const places = sampleZones.flatMap((zone): [string, number][] => {
      const changes = changesOf(zone, from, to);
      return (changes.length === 0 ? [from] : changes).map((change) => [zone, change]);
    });
    let changed = 0;
    for (const [zone, change] of [
      ...places,
      ...moves.map(([zone, around]): [string, number] => [zone, Date.parse(around)]),
    ]) {
      const after = change - dayMs;
      const until = change + 1.5 * dayMs;
      for (let round = 0; round < perChange; round++) {
        const cron = denseCron(random);
        const ours = runsBetween(cron, zone, new Date(after), new Date(until), 10_000).map(Number);
        const theirs = simulate(cron.expression, zone, after, until);
        expect(shown(ours), context(cron, zone, after)).toEqual(shown(theirs));
        changed += ours.length;
      }
    }
    expect(changed).toBeGreaterThan(10_000);
  });

  test("the next run is later, at a whole minute, named by the fields, and the first that is", () => {
    for (let round = 0; round < many; round++) {
      const cron = randomCron(random);
      const zone = pick(random, sampleZones);
      const after = between(random, from, to);
      const next = nextRun(cron, zone, new Date(after))?.getTime();
      if (next === undefined) {
        throw new Error(`${context(cron, zone, after)}: no run`);
      }
      expect(next, context(cron, zone, after)).toBeGreaterThan(after);
      expect(next % minuteMs, context(cron, zone, after)).toBe(0);
      // Nothing between: the same answer from any time on the way.
      const between1 = between(random, after, next - 1);
      expect(nextRun(cron, zone, new Date(between1))?.getTime(), context(cron, zone, between1)).toBe(next);
      const wall = wallClock(zone);
      const jump = Math.abs(wall(next).count - wall(next - minuteMs).count - 1);
      if (!matches(cron.expression.split(" "), wall(next))) {
        // Only the end of a gap may be another local time than the fields name.
        expect(jump > 0 && jump < 180 && !cron.interval, context(cron, zone, after)).toBe(true);
      }
      const first = Math.floor(after / minuteMs) * minuteMs;
      if (next - after < 2 * dayMs) {
        expect(shown(simulate(cron.expression, zone, first, next)), context(cron, zone, after)).toEqual(
          shown([next]),
        );
      }
    }
  });

  test("lists are what one step after the other gives", () => {
    for (let round = 0; round < many / 4; round++) {
      const cron = randomCron(random);
      const zone = pick(random, sampleZones);
      const after = between(random, from, to);
      const runs = nextRuns(cron, zone, new Date(after), 20);
      let last = new Date(after);
      for (const run of runs) {
        expect(nextRun(cron, zone, last), context(cron, zone, after)).toEqual(run);
        last = run;
      }
      const cut = between(random, 0, 19);
      const until = runs[cut] ?? last;
      expect(runsBetween(cron, zone, new Date(after), until, 100), context(cron, zone, after)).toEqual(
        runs.slice(0, cut + 1),
      );
      expect(latestRun(cron, zone, new Date(after), until), context(cron, zone, after)).toEqual(until);
      expect(
        latestRun(cron, zone, new Date(after), new Date(until.getTime() - 1)),
        context(cron, zone, after),
      ).toEqual(runs[cut - 1] ?? null);
    }
  });

  test("an answer does not depend on what was asked before", () => {
    const questions = Array.from({ length: 300 }, () => ({
      cron: randomCron(random),
      zone: pick(random, sampleZones),
      after: new Date(between(random, Date.UTC(1972, 1, 1), Date.UTC(2400, 0, 1))),
    }));
    const ask = (question: (typeof questions)[number]): unknown =>
      nextRuns(question.cron, question.zone, question.after, 3);
    const answers = questions.map(ask);
    expect(questions.toReversed().map(ask).toReversed()).toEqual(answers);
  });
});

describe("what never or hardly ever comes", () => {
  test("29 February on a Sunday: 28 years, and 40 over 2100, which is no leap year", () => {
    const cron = parseCron("0 12 29 2 */7");
    expect(shown(nextRuns(cron, "Europe/Berlin", new Date("2030-01-01T00:00:00Z"), 5).map(Number))).toEqual([
      "2032-02-29T11:00:00.000Z",
      "2060-02-29T11:00:00.000Z",
      "2088-02-29T11:00:00.000Z",
      "2128-02-29T11:00:00.000Z",
      "2156-02-29T11:00:00.000Z",
    ]);
  });

  test("29 February after 2096 is in 2104, after 2396 in 2400", () => {
    const cron = parseCron("0 0 29 2 *");
    expect(shown([nextRun(cron, "UTC", new Date("2097-01-01")) ?? 0])).toEqual(["2104-02-29T00:00:00.000Z"]);
    expect(shown([nextRun(cron, "UTC", new Date("2397-01-01")) ?? 0])).toEqual(["2400-02-29T00:00:00.000Z"]);
  });

  test("what is remembered of a zone is bounded", () => {
    const cron = parseCron("0 12 * * *");
    for (let year = 1900; year < 9900; year += 10) {
      expect(nextRun(cron, "Etc/GMT-9", new Date(Date.UTC(year, 5, 1)))?.getTime()).toBe(
        Date.UTC(year, 5, 1, 3),
      );
    }
    expect(findZone("Etc/GMT-9").blocks.size).toBeLessThanOrEqual(64);
  });

  test("an interval job whose local times are all skipped has no run", () => {
    const cron = parseCron("*/10 2 8-14 3 */7");
    expect(nextRun(cron, "America/New_York", new Date("2026-01-01T00:00:00Z"))).toBeNull();
    expect(nextRuns(cron, "America/New_York", new Date("2026-01-01T00:00:00Z"), 3)).toEqual([]);
    expect(latestRun(cron, "America/New_York", new Date("2026-01-01"), new Date("2046-01-01"))).toBeNull();
  });

  test.each([new Date(Number.NaN), new Date("1899-12-31T23:59:59Z"), new Date("+010000-01-01T00:00:00Z")])(
    "%s is out of range",
    (date) => {
      const cron = parseCron("* * * * *");
      expect(() => nextRun(cron, "UTC", date)).toThrow(RangeError);
      expect(() => runsBetween(cron, "UTC", new Date(0), date, 1)).toThrow(/1900 to 9999: current value is/);
      expect(() => latestRun(cron, "UTC", new Date(0), date)).toThrow(RangeError);
    },
  );

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("%s is no count", (count) => {
    expect(() => nextRuns(parseCron("* * * * *"), "UTC", new Date(0), count)).toThrow(
      `current value is ${count}`,
    );
  });

  test("an unknown zone is an error at each search", () => {
    const cron = parseCron("* * * * *");
    for (let round = 0; round < 2; round++) {
      expect(() => nextRun(cron, "Europe/Berln", new Date(0))).toThrow('did you mean "Europe/Berlin"');
    }
  });

  test("an empty or inverted window has no run", () => {
    const cron = parseCron("* * * * *");
    const noon = new Date("2026-06-01T12:00:00Z");
    expect(runsBetween(cron, "UTC", noon, noon, 10)).toEqual([]);
    expect(runsBetween(cron, "UTC", noon, new Date(0), 10)).toEqual([]);
    expect(latestRun(cron, "UTC", noon, new Date(0))).toBeNull();
    expect(runsBetween(cron, "UTC", new Date(0), noon, 0)).toEqual([]);
  });
});

/** One that is due on most days, so that it meets the change. */
function denseCron(random: Random): Cron {
  const [minute, hour, day] = randomExpression(random).split(" ");
  return parseCron(
    `${minute} ${hour} ${random() < 0.7 ? "*" : day} * ${pick(random, ["*", "0,6", "sun", "*/2"])}`,
  );
}

function context(cron: Cron, zone: string, after: number): string {
  return `CRON_SEED=${seed}: ${cron.expression} in ${zone} after ${new Date(after).toISOString()}`;
}

function shown(runs: (Date | number)[]): string[] {
  return runs.map((run) => new Date(run).toISOString());
}
