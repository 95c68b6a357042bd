/**
 * How long the next run of a schedule takes to find. Run it on each runtime: `node test/bench/cron.ts`, and with `bun`
 * or `deno run -A`. The baseline is croner, asked with its parsed expression and zone at hand; before anything is timed
 * both must give the same runs. Rounds of both are interleaved, and the median of nine is shown.
 */
import { Cron as Croner } from "croner";
import { timeZoneNames } from "../../project/cron/names.ts";
import { type Cron, nextRun, parseCron, runsBetween } from "../../project/cron.ts";

interface Schedule {
  cron: Cron;
  zone: string;
  croner: Croner;
}

const expressions = [
  "* * * * *",
  "*/5 * * * *",
  "0 * * * *",
  "30 2 * * *",
  "0 9 * * 1-5",
  "15 10 1,15 * *",
  "0 0 1 1,4,7,10 *",
  "0 12 13 * 5",
];
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Pacific/Auckland",
  "Asia/Tokyo",
];
const minute = Date.UTC(2026, 8, 17, 12);
const rounds = 9;

const schedules = expressions.flatMap((expression) =>
  zones.map((zone): Schedule => {
    const croner = new Croner(expression, { timezone: zone, mode: "5-part" });
    return { cron: parseCron(expression), zone, croner };
  }),
);

console.log(`${runtimeName()}, microseconds each, median of ${rounds} rounds`);
coldZones();
assertEqual();
compare("10,000 due in one minute, over 8 zones", 10_000, () => minute);
compare(
  "10,000 at random times of four years",
  10_000,
  (index) => minute + ((index * 7919) % 1461) * 86_400_000,
);
sparse("29 February on a Sunday (28 to 40 years)", "0 12 29 2 */7", "Europe/Berlin");
sparse("an interval job on 29 February, Sunday", "*/5 * 29 2 */7", "Europe/Berlin");
sparse("a job that never comes (50 years searched)", "*/10 2 8-14 3 */7", "America/New_York");
report("a day of missed minutes listed (1,440 runs)", [
  time(200, () => {
    runsBetween(
      parseCron("* * * * *"),
      "Europe/Berlin",
      new Date(minute),
      new Date(minute + 86_400_000),
      1440,
    );
  }),
]);
report("parseCron, node-cron's validate included", [
  time(2000, (index) => {
    parseCron(`${index % 60},${Math.floor(index / 60)} 9 1-5 jan,Mar mon-fri`);
  }),
]);
report("parseCron of what was parsed lately", [
  time(2000, () => {
    parseCron("30 9 1-5 jan,Mar mon-fri");
  }),
]);

/** The first question about each zone, which builds its stretches; these are the figures of one process's start. */
function coldZones(): void {
  const cron = parseCron("0 9 * * *");
  const names = [...timeZoneNames];
  const started = performance.now();
  for (const name of names) {
    nextRun(cron, name, new Date(minute));
  }
  report(`the first question about each of ${names.length} zones`, [
    ((performance.now() - started) * 1000) / names.length,
  ]);
}

function assertEqual(): void {
  for (const { cron, zone, croner } of schedules) {
    for (let index = 0; index < 50; index++) {
      const after = new Date(minute + index * 29.3 * 86_400_000);
      const [ours, theirs] = [nextRun(cron, zone, after), croner.nextRun(after)];
      if (ours?.getTime() !== theirs?.getTime()) {
        throw new Error(
          `Cannot compare: "${cron.expression}" in ${zone} is ${ours} here and ${theirs} by croner.`,
        );
      }
    }
  }
}

function compare(what: string, count: number, afterOf: (index: number) => number): void {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(
      time(count, (index) => {
        const { cron, zone } = scheduleAt(index);
        nextRun(cron, zone, new Date(afterOf(index)));
      }),
    );
    theirs.push(
      time(count / 10, (index) => {
        scheduleAt(index).croner.nextRun(new Date(afterOf(index)));
      }),
    );
  }
  report(what, ours, theirs);
}

function sparse(what: string, expression: string, zone: string): void {
  const cron = parseCron(expression);
  const after = new Date(Date.UTC(2088, 2, 1));
  report(
    what,
    Array.from({ length: rounds }, () =>
      time(200, () => {
        nextRun(cron, zone, after);
      }),
    ),
  );
}

function scheduleAt(index: number): Schedule {
  const schedule = schedules[index % schedules.length];
  if (schedule === undefined) {
    throw new Error("Cannot measure without schedules.");
  }
  return schedule;
}

function time(count: number, action: (index: number) => void): number {
  const started = performance.now();
  for (let index = 0; index < count; index++) {
    action(index);
  }
  return ((performance.now() - started) * 1000) / count;
}

function report(what: string, ours: number[], theirs?: number[]): void {
  const [own, other] = [median(ours), theirs === undefined ? undefined : median(theirs)];
  const ratio =
    other === undefined ? "" : `; croner ${other.toFixed(2)}, ${(other / own).toFixed(0)} times as long`;
  console.log(`${what.padEnd(48)} ${own.toFixed(2).padStart(9)}${ratio}`);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function runtimeName(): string {
  const { versions } = process;
  const name = versions.deno !== undefined ? "deno" : versions.bun !== undefined ? "bun" : "node";
  return `${name} ${versions[name]}`;
}
