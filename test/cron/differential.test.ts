/**
 * Against croner, an independent implementation that knows clock changes too. Where it is known to differ, it is asked
 * in another way, so that it must agree on every run:
 *
 * 1. Croner joins the day fields with OR unless told `domAndDow`; Vixie's rule (a field that begins with `*` is not
 *    restricted) decides here which of the two it is told.
 * 2. Croner handles as fixed-time jobs those alone that name one hour and one minute, as two plain numbers; lists and
 *    ranges keep the rhythm there. Vixie's cron handles as fixed-time every job without `*` in front. Such an expression
 *    is taken apart into all its single times, and their runs are put together.
 * 3. Croner 11.0.0 steps over the first days of a month when the month before is too short for a day that is named
 *    (`0 0 1,2,12,31 * *` after 24 February gives 12 March). It is asked again from the beginning of each month.
 * 4. Croner reads `sun` at the end of a range as 7; here, as in Vixie's cron, it is 0. None is generated.
 */
import { Cron as Croner } from "croner";
import { describe, expect, test } from "vitest";
import { type Cron, nextRuns, runsBetween } from "../../project/cron.ts";
import { rounds } from "../support/rounds.ts";
import { changesOf } from "./changes.ts";
import { between, pick, type Random, randomCron, sampleZones, seed, seeded } from "./random.ts";

const from = Date.UTC(2026, 0, 1);
const to = Date.UTC(2036, 0, 1);
const never = Number.POSITIVE_INFINITY;
const count = rounds(2000);
const timeout = 60_000 + count * 50;

describe(`${count} random expressions, 20 zones, ten years, against croner (CRON_SEED=${seed})`, () => {
  const random = seeded(seed);
  const crons = Array.from({ length: count }, () => randomCron(random));

  test("the next runs from any time and from around clock changes", { timeout }, () => {
    let explained = 0;
    let compared = 0;
    for (const zone of sampleZones) {
      const changes = changesOf(zone, from, to);
      for (const cron of crons) {
        const croner = cronerOf(cron, zone);
        for (const start of startsFor(random, changes)) {
          const ours = nextRuns(cron, zone, new Date(start), 2).map(Number);
          compared += 1;
          if (String(ours) === String(croner.nextRuns(2, new Date(start)).map(Number))) {
            continue;
          }
          explained += 1;
          const context = `CRON_SEED=${seed}: ${cron.expression} in ${zone} after ${new Date(start).toISOString()}`;
          expect(shown(ours), context).toEqual(shown(insist(cron, zone, start, 2)));
        }
      }
    }
    expect(compared).toBe(count * 40);
    // Asked plainly croner must agree nearly always, or the ways around its differences would hide ours.
    expect(explained / compared).toBeLessThan(0.01);
  });

  test("each run of ten years, of the expressions with 600 runs or fewer", { timeout }, () => {
    let compared = 0;
    for (const [index, cron] of crons.entries()) {
      const zone = sampleZones[index % sampleZones.length] ?? "UTC";
      const ours = runsBetween(cron, zone, new Date(from), new Date(to), 601).map(Number);
      if (ours.length > 600) {
        continue;
      }
      const croner = cronerOf(cron, zone);
      let last = from;
      for (const run of [...ours, never]) {
        compared += 1;
        const next = Math.min(croner.nextRun(new Date(last))?.getTime() ?? never, never);
        const theirs = next === run ? next : (insist(cron, zone, last, 1)[0] ?? never);
        const context = `CRON_SEED=${seed}: ${cron.expression} in ${zone} after ${new Date(last).toISOString()}`;
        // After the last of ours theirs must lie beyond the ten years.
        expect(
          run === never ? theirs > to : theirs === run,
          `${context}: ${shown([run])}, not ${shown([theirs])}`,
        ).toBe(true);
        last = run;
      }
    }
    expect(compared).toBeGreaterThan(count * 5);
  });
});

function startsFor(random: Random, changes: number[]): number[] {
  const around = changes.length === 0 ? between(random, from, to) : pick(random, changes);
  const dayMs = 86_400_000;
  return [between(random, from, to), around - between(random, -dayMs / 4, 1.5 * dayMs)];
}

function cronerOf(cron: Cron, zone: string, expression: string = cron.expression): Croner {
  const [, , day, , weekday] = cron.expression.split(" ");
  const bothMustMatch = day?.startsWith("*") === true || weekday?.startsWith("*") === true;
  return new Croner(expression, { timezone: zone, mode: "5-part", domAndDow: bothMustMatch });
}

/** Croner's runs, asked for around its differences 2 and 3. */
function insist(cron: Cron, zone: string, start: number, count: number): number[] {
  const runs = new Set<number>();
  for (const expression of cron.interval ? [cron.expression] : singles(cron)) {
    const croner = cronerOf(cron, zone, expression);
    let last = start;
    for (let found = 0; found < count; found++) {
      last = monthByMonth(croner, zone, last);
      runs.add(last);
    }
  }
  return [...runs].sort((a, b) => a - b).slice(0, count);
}

function monthByMonth(croner: Croner, zone: string, start: number): number {
  let next = croner.nextRun(new Date(start))?.getTime() ?? never;
  const months = new Croner("0 0 1 * *", { timezone: zone, mode: "5-part" });
  let month = months.nextRun(new Date(start))?.getTime() ?? never;
  while (month < Math.min(next, to + 366 * 86_400_000)) {
    next = Math.min(next, croner.nextRun(new Date(month - 1000))?.getTime() ?? never);
    month = months.nextRun(new Date(month))?.getTime() ?? never;
  }
  return next;
}

function singles(cron: Cron): string[] {
  const days = cron.expression.split(" ").slice(2).join(" ");
  const minutes = [...bitsOf(cron.earlyMinutes), ...bitsOf(cron.lateMinutes).map((bit) => bit + 30)];
  return bitsOf(cron.hours).flatMap((hour) => minutes.map((minute) => `${minute} ${hour} ${days}`));
}

function bitsOf(set: number): number[] {
  return Array.from({ length: 31 }, (_, bit) => bit).filter((bit) => (set & (1 << bit)) !== 0);
}

function shown(instants: number[]): string[] {
  return instants.map((instant) => (Number.isFinite(instant) ? new Date(instant).toISOString() : "never"));
}
