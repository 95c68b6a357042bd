/** Results as text for a terminal. */
import { type CaseResult, type Goal, missedGoals, type Row, type Spread } from "./case.ts";

export function textOf({ name, summary, seconds, rows, skipped, failed }: CaseResult): string {
  const state = skipped === undefined ? failed : `skipped: ${skipped}`;
  const lines = rows.flatMap(linesOf);
  if (state !== undefined) lines.push(`  ${state}`);
  return [`${name}: ${summary} (${Math.round(seconds)} s)`, ...lines].join("\n");
}

function linesOf(row: Row): string[] {
  const width = Math.max(...row.programs.map(({ name }) => name.length));
  const note = row.note === undefined ? "" : `; ${row.note}`;
  return [
    `  ${row.what}, ${row.unit}${note}`,
    ...row.programs.map((program) => {
      const { name, p50Ms, p99Ms, ratio } = program;
      const latency =
        p50Ms === undefined ? "" : `  p50 ${shown(p50Ms)} ms, p99 ${shown(p99Ms ?? Number.NaN)} ms`;
      const compared = ratio === undefined ? "" : `  ratio ${ratioText(ratio)}`;
      return `    ${name.padEnd(width)} ${shown(program.median).padStart(9)} (${shown(program.min)} to ${shown(program.max)})${latency}${compared}${goalsOf(row, name)}`;
    }),
  ];
}

function goalsOf(row: Row, program: string): string {
  const missed = missedGoals(row);
  return (row.goals ?? [])
    .filter((goal) => goal.program === program)
    .map((goal) => `, ${names[goal.of]}${goalText(goal)}: ${missed.includes(goal) ? "NOT held" : "held"}`)
    .join("");
}

const names = { ratio: "", median: "median ", p99Ms: "p99 " };

export function goalText({ atLeast, atMost }: Goal): string {
  return atLeast === undefined
    ? `at most ${atMost?.toLocaleString("en-US")}`
    : `at least ${atLeast.toLocaleString("en-US")}`;
}

export function ratioText({ median, min, max }: Spread): string {
  return `${ratio(median)} (${ratio(min)} to ${ratio(max)})`;
}

function ratio(value: number): string {
  if (!Number.isFinite(value)) return "unknown";
  return value < 0.1 ? value.toFixed(3) : value < 10 ? value.toFixed(2) : value.toFixed(1);
}

/** Three significant digits, with separators of thousands. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "unknown";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
