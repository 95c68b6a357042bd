import { validate } from "node-cron";
import { describe, expect, test } from "vitest";
import { nextRuns, parseCron } from "../../project/cron.ts";
import { between, pick, randomExpression, seed, seeded } from "./random.ts";
import { matches, wallOf } from "./vixie.ts";

describe("valid expressions", () => {
  test.each([
    ["* * * * *", "* * * * *"],
    ["0,30 9-17 * * *", "*/30 9,10,11,12,13,14,15,16,17 * * *"],
    ["5-20/5 * * * *", "5,10,15,20 * * * *"],
    ["0 0 * JAN,Feb,mAr *", "0 0 * 1-3 *"],
    ["0 0 * * mon-FRI", "0 0 * * 1-5"],
    ["0 0 * * sun", "0 0 * * 0"],
    ["0 0 * * 7", "0 0 * * 0"],
    ["0 0 * * 5-7", "0 0 * * 0,5,6"],
    ["0 0 * * 0-7", "0 0 * * 0-6"],
    ["0 0 * * */7", "0 0 * * 0"],
    ["0 0 * * 1-7/3", "0 0 * * 1,4,0"],
    ["00 09 01 01 *", "0 9 1 1 *"],
    ["5-5 3-3 * * *", "5 3 * * *"],
    ["*/60 */24 * * *", "0 0 * * *"],
    ["0 0 * * 1-mon", "0 0 * * 1"],
    ["0 0 * * fri-sun", "0 0 * * 5,6,0"],
    ["0 0 * * sun-tue", "0 0 * * 0-2"],
    ["0 0 * * sun-sun", "0 0 * * 0"],
    ["59 23 31 12 *", "59 23 31 dec *"],
    [" \t0\t0  1 *\t* \n", "0 0 1 * *"],
    // A day field that begins with `*` is not restricted, even if a step follows.
    ["0 0 1-31 * 1", "0 0 * * *"],
    ["0 0 */1 * 1", "0 0 * * 1"],
  ])("%s", (expression, same) => {
    const after = new Date("2026-01-01T00:00:00Z");
    const ours = nextRuns(parseCron(expression), "UTC", after, 50);
    expect(ours).toEqual(nextRuns(parseCron(same), "UTC", after, 50));
  });

  test("a day matches either day field when both are restricted", () => {
    const cron = parseCron("0 0 13 * fri");
    const days = nextRuns(cron, "UTC", new Date("2026-02-01T00:00:00Z"), 7);
    expect(days.map((day) => day.toISOString().slice(5, 10))).toEqual([
      "02-06",
      "02-13",
      "02-20",
      "02-27",
      "03-06",
      "03-13",
      "03-20",
    ]);
  });

  test("a day must match both day fields when one begins with a star", () => {
    const cron = parseCron("0 0 */10 * mon");
    const days = nextRuns(cron, "UTC", new Date("2026-01-01T00:00:00Z"), 4);
    expect(days.map((day) => day.toISOString().slice(0, 10))).toEqual([
      "2026-05-11",
      "2026-06-01",
      "2026-08-31",
      "2026-09-21",
    ]);
  });

  test("accepts a date that does not exist when the weekday alone is enough", () => {
    const [first] = nextRuns(parseCron("0 0 30 2 1"), "UTC", new Date("2026-01-01T00:00:00Z"), 1);
    expect(first?.toISOString()).toBe("2026-02-02T00:00:00.000Z");
  });

  test.each([
    ["* 5 * * *", true],
    ["5 * * * *", true],
    ["*/7 5 * * *", true],
    ["5 */7 * * *", true],
    ["*,5 5 * * *", true],
    ["5,* 5 * * *", false],
    ["0-59 0-23 * * *", false],
    ["5 5 */2 * *", false],
  ])("%s is an interval job: %s", (expression, interval) => {
    expect(parseCron(expression).isInterval).toBe(interval);
  });
});

describe("invalid expressions", () => {
  const five = "it must have five fields (minute, hour, day-of-month, month, day-of-week), not";
  const minutes = 'the minute field takes 0 to 59, "*", lists, ranges and steps';
  const weekdays = 'the day-of-week field takes 0 to 7 or sun to sat, "*", lists, ranges and steps';
  const noLetters = '("L", "W" and "#" are not supported)';

  test.each([
    ["", `${five} 0`],
    ["   ", `${five} 0`],
    ["* * * *", `${five} 4`],
    ["0 * * * * *", `${five} 6; seconds and years are not supported`],
    ["* * * * * * *", `${five} 7`],
    ["* * * *\n*", `${five} 4`],
    ["@daily", 'macros such as "@daily" are not allowed: write "0 0 * * *"'],
    ["@WEEKLY", 'write "0 0 * * 0"'],
    ["@reboot", 'macros such as "@reboot" are not allowed.'],
    ["@__proto__", 'macros such as "@__proto__" are not allowed.'],
    ["60 * * * *", `${minutes}, not "60"`],
    ["-1 * * * *", `${minutes}, not "-1"`],
    ["1.5 * * * *", `${minutes}, not "1.5"`],
    ["1e1 * * * *", `${minutes}, not "1e1"`],
    ["0x1 * * * *", `${minutes}, not "0x1"`],
    ["٣ * * * *", `${minutes}, not "٣"`],
    ["99999999999999999999 * * * *", `${minutes}, not "99999999999999999999"`],
    ["* 24 * * *", "the hour field takes 0 to 23"],
    ["* * 0 * *", "the day-of-month field takes 1 to 31"],
    ["* * 32 * *", 'not "32"'],
    ["* * * 0 *", "the month field takes 1 to 12 or jan to dec"],
    ["* * * 13 *", 'not "13"'],
    ["* * * * 8", `${weekdays}, not "8"`],
    ["* * * monday *", 'not "monday"'],
    ["* * * * monday", `${weekdays} (did you mean "mon"?), not "monday"`],
    ["* * * january *", '(did you mean "jan"?), not "january"'],
    ["jan * * * *", `${minutes}, not "jan"`],
    ["constructor * * * *", `${minutes}, not "constructor"`],
    ["1,,2 * * * *", `${minutes}, not ""`],
    [",1 * * * *", `${minutes}, not ""`],
    ["1, * * * *", `${minutes}, not ""`],
    ["1-2-3 * * * *", `${minutes}, not "1-2-3"`],
    ["*-5 * * * *", `${minutes}, not "*-5"`],
    ["** * * * *", `${minutes}, not "**"`],
    ["1- * * * *", `${minutes}, not "1-"`],
    ["*/ * * * *", `${minutes}, not "*/"`],
    ["/5 * * * *", `${minutes}, not "/5"`],
    ["*/5/5 * * * *", `${minutes}, not "*/5/5"`],
    ["*/x * * * *", `${minutes}, not "*/x"`],
    ["? * * * *", '(write "*" instead of "?"), not "?"'],
    ["0 0 ? * 1", '(write "*" instead of "?"), not "?"'],
    ["0 0 L * *", `${noLetters}, not "L"`],
    ["0 0 L-3 * *", `${noLetters}, not "L"`],
    ["0 0 15W * *", `${noLetters}, not "15W"`],
    ["0 0 LW * *", `${noLetters}, not "LW"`],
    ["0 0 * * 5L", `${noLetters}, not "5L"`],
    ["0 0 * * 5#2", `${noLetters}, not "5#2"`],
    ["5/15 * * * *", 'must follow "*" or a range, as in "5-59/15", not "5/15"'],
    ["*/0 * * * *", 'a step in the minute field must be 1 to 60, not 0 as in "*/0"'],
    ["1-5/0 * * * *", 'a step in the minute field must be 1 to 60, not 0 as in "1-5/0"'],
    ["*/90 * * * *", "a step in the minute field must be 1 to 60, not 90"],
    ["* */25 * * *", "a step in the hour field must be 1 to 24, not 25"],
    ["* * * * */8", "a step in the day-of-week field must be 1 to 7, not 8"],
    ["* 22-2 * * *", 'must not end before it begins: write "22-23,0-2", not "22-2"'],
    ["50-10/5 * * * *", 'must not end before it begins: write "50-59,0-10", not "50-10/5"'],
    ["* * * nov-feb *", 'write "11-12,1-2", not "nov-feb"'],
    ["* * * * fri-mon", 'write "5-6,0-1", not "fri-mon"'],
    ["* * * * 7-2", 'write "0-2", not "7-2"'],
    ["0 0 30 2 *", "day 30 of month 2 does not exist"],
    ["0 0 30,31 feb *", "day 30,31 of month feb does not exist"],
    ["0 0 31 4,6,9,11 */2", "day 31 of month 4,6,9,11 does not exist"],
    [`${"0,".repeat(600)}0 * * * *`, "it must have at most 1000 characters, not 1209"],
  ])("%s", (expression, message) => {
    let error: unknown;
    try {
      parseCron(expression);
    } catch (thrown) {
      error = thrown;
    }
    expect(String(error)).toContain(message);
    expect(String(error)).toMatch(/^Error: Cannot use the cron expression ".*": .*[^.]\.$/s);
    expect(String(error).length).toBeLessThan(500);
  });

  test("29 February exists", () => {
    expect(() => parseCron("0 0 29 2 *")).not.toThrow();
    expect(() => parseCron("0 0 29 2 */3")).not.toThrow();
  });
});

describe(`random expressions (CRON_SEED=${seed})`, () => {
  const random = seeded(seed);

  test("rejects a date exactly when it does not exist", () => {
    const dates = everyDate();
    let rejected = 0;
    for (let round = 0; round < 500; round++) {
      const [, , day, , weekday] = randomExpression(random).split(" ");
      const month = pick(random, ["2", "feb", "4", "2,4", "apr-jun/2", "4,6,9,11"]);
      const late = pick(random, [day ?? "*", "29", "30", "31", "30-31", "31-31/3", "29,30"]);
      const expression = `0 0 ${late} ${month} ${weekday}`;
      const exists = dates.some((date) => matches(expression.split(" "), date));
      let refused = false;
      try {
        parseCron(expression);
      } catch (error) {
        expect(String(error)).toContain("does not exist");
        refused = true;
      }
      expect(refused, `CRON_SEED=${seed}: ${expression}`).toBe(!exists);
      rejected += refused ? 1 : 0;
    }
    expect(rejected).toBeGreaterThan(10);
  });

  test("reads damaged text as the oracle reads it, or rejects it with a reason", () => {
    const letters = [..."0123456789*/,-?#LW@. \t\nxSUNjan٣\u0000\u{1f600}"];
    let refused = 0;
    for (let round = 0; round < 3000; round++) {
      const expression = randomExpression(random);
      const place = between(random, 0, expression.length);
      const broken =
        expression.slice(0, place) + pick(random, letters) + expression.slice(place + between(random, 0, 1));
      try {
        const cron = parseCron(broken);
        const [run] = nextRuns(cron, "UTC", new Date("2026-01-01T00:00:00Z"), 1);
        expect(
          run !== undefined && matches(broken.trim().split(/[ \t]+/), wallOf(run.getTime() / 60_000)),
          JSON.stringify(broken),
        ).toBe(true);
      } catch (error) {
        expect(String(error), `CRON_SEED=${seed}: ${JSON.stringify(broken)}`).toMatch(
          /^Error: Cannot use the cron expression .*: .*\.$/s,
        );
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });
});

// Why this layer exists. If one of these fails, node-cron has changed and the layer may become smaller.
test.each([
  "* * * * * *",
  "@daily",
  "0 0 L * *",
  "0 0 15W * *",
  "0 0 * * 5#2",
  "0 22-2 * * *",
  "0 0 * * monday",
])("node-cron accepts %s, which is not valid here", (expression) => {
  expect(validate(expression)).toBe(true);
  expect(() => parseCron(expression)).toThrow();
});

/** One date for each month, day and weekday of the 400 years after which the calendar repeats. */
function everyDate(): ReturnType<typeof wallOf>[] {
  const dates = new Map<string, ReturnType<typeof wallOf>>();
  for (let day = 0; day < 146_097; day++) {
    const date = wallOf(day * 1440);
    dates.set(`${date.month}-${date.day}-${date.weekday}`, date);
  }
  return [...dates.values()];
}
