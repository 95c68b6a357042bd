/** The occurrences of an expression in a window, however many they are. */
import { nextRuns, parseCron } from "../../project/cron.ts";

const chunk = 50;

/** @returns Unix milliseconds of the runs after `after` and not after `until`, in order */
export function runsBetween(expression: string, timezone: string, after: number, until: number): number[] {
  const cron = parseCron(expression);
  const runs: number[] = [];
  for (;;) {
    const found = nextRuns(cron, timezone, new Date(runs.at(-1) ?? after), chunk).map(Number);
    const inWindow = found.filter((run) => run <= until);
    runs.push(...inWindow);
    if (inWindow.length < chunk) return runs;
  }
}
