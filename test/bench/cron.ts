/**
 * How long one pass of the scheduler computes for 1,000 schedules that are due: on time, and after two hours without a
 * scheduler. Run it on each runtime: `node test/bench/cron.ts`, and with `bun` or `deno run -A`. Both plans are checked
 * before they are timed; the median of nine rounds is shown.
 */
import { checkTimeZone, nextRun, parseCron } from "../../project/cron.ts";
import { type Plan, planTicks } from "../../server/schedules/plan.ts";

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
const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"];
const schedules = expressions.flatMap((cron) =>
  zones.map((timezone) => ({ cron, timezone, catchUpSeconds: 0 })),
);
const count = 1_000;
const rounds = 9;
const now = Date.UTC(2026, 8, 17, 12);

const due = schedules.map(
  ({ cron, timezone }) => nextRun(parseCron(cron), timezone, new Date(now))?.getTime() ?? 0,
);

function onTime(index: number): Plan {
  const schedule = schedules[index % schedules.length];
  const dueMs = due[index % schedules.length];
  if (schedule === undefined || dueMs === undefined) throw new Error("There are no schedules.");
  return planTicks(schedule, dueMs, dueMs + 500, dueMs);
}

function afterTwoHours(index: number): Plan {
  const schedule = { cron: "* * * * *", timezone: zones[index % zones.length] ?? "UTC", catchUpSeconds: 0 };
  return planTicks(schedule, now, now + 7_200_000, now + 7_200_000);
}

if (onTime(0).ticks.length !== 1) throw new Error("A schedule on time must have one tick.");
if (!afterTwoHours(0).ticks.some(({ outcome }) => outcome === "missed"))
  throw new Error("No tick was missed.");

console.log(
  `${runtimeName()}, milliseconds for ${count} schedules, median (lowest to highest) of ${rounds} rounds`,
);
measure("on time", onTime);
measure("every minute, after two hours without a scheduler", afterTwoHours);
measure("parseCron", (index) => parseCron(expressions[index % expressions.length] ?? ""));
measure("checkTimeZone", (index) => checkTimeZone(zones[index % zones.length] ?? ""));

function measure(name: string, action: (index: number) => unknown): void {
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now();
    for (let index = 0; index < count; index++) action(index);
    return performance.now() - started;
  }).sort((a, b) => a - b);
  const [lowest = 0, median = 0, highest = 0] = [times[0], times[Math.floor(rounds / 2)], times.at(-1)];
  console.log(`${name.padEnd(52)} ${median.toFixed(0)} (${lowest.toFixed(0)} to ${highest.toFixed(0)})`);
}

function runtimeName(): string {
  const { versions } = process;
  const name = versions.deno !== undefined ? "deno" : versions.bun !== undefined ? "bun" : "node";
  return `${name} ${versions[name]}`;
}
