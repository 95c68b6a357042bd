/** The tables of docs/performance.md, from the results. */
import { type CaseResult, type Goal, missedGoals, type Program, type Row } from "../runner/case.ts";
import { goalText, ratioText, shown } from "../runner/text.ts";
import type { Results } from "./results.ts";

/** The content of a section: `machine`, or the name of a case. Null for an unknown one. */
export function sectionOf(name: string, results: Results): string | null {
  if (name === "machine") return machine(results);
  const found = results.cases.find((one) => one.name === name);
  return found === undefined ? null : table(found);
}

function machine({ machine, options, cases }: Results): string {
  const { date, processor, processors, memoryGiB, system, load, versions } = machine;
  const minutes = cases.reduce((sum, { seconds }) => sum + seconds, 0) / 60;
  const rows: [string, string][] = [
    ["date", date.replace("T", ", ").replace(/:\d\dZ$/, " UTC")],
    ["processor", `${processor}, ${processors} processors, which the load shares`],
    ["memory", `${memoryGiB} GiB`],
    ["system", `${system}; load average ${load} before the run`],
    [
      "versions",
      Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", "),
    ],
    [
      "rounds",
      `${options.rounds}, of ${options.seconds} s for most measurements; ${minutes.toFixed(0)} minutes in total`,
    ],
  ];
  const lines = ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)];
  if (load > processors)
    lines.push(
      "",
      "**Other programs used the processors when this run began. Compare ratios, with their spread.**",
    );
  return lines.join("\n");
}

function table({ rows, skipped, failed }: CaseResult): string {
  if (skipped !== undefined) return `Not measured: ${skipped}.`;
  if (failed !== undefined) return "Not measured: the case failed.";
  const timed = rows.some(({ programs }) => programs.some(({ p50Ms }) => p50Ms !== undefined));
  const compared = rows.some(({ programs }) => programs.length > 1);
  const head = ["measurement", "program", "median"];
  if (timed) head.push("p50 / p99, ms");
  if (compared) head.push("ratio to it");
  const notes = [...new Set(rows.flatMap(({ note }) => (note === undefined ? [] : [note])))];
  return [
    `| ${head.join(" | ")} |`,
    `|${head.map(() => "---|").join("")}`,
    ...rows.flatMap((row) =>
      row.programs.map((program, index) => line(row, program, index, timed, compared)),
    ),
    ...(notes.length > 0 ? ["", `${notes.join(". ").replace(/^./, (first) => first.toUpperCase())}.`] : []),
  ].join("\n");
}

function line(row: Row, program: Program, index: number, timed: boolean, compared: boolean): string {
  const { name, median, p50Ms, p99Ms, ratio } = program;
  const goal = (of: Goal["of"]) => goalOf(row, name, of);
  const cells = [index === 0 ? `${row.what}, ${row.unit}` : "", name, shown(median) + goal("median")];
  if (timed) {
    const latency = `${shown(p50Ms ?? Number.NaN)} / ${shown(p99Ms ?? Number.NaN)}${goal("p99Ms")}`;
    cells.push(p50Ms === undefined ? "" : latency);
  }
  if (compared) cells.push(ratio === undefined ? "" : ratioText(ratio) + goal("ratio"));
  return `| ${cells.join(" | ")} |`;
}

function goalOf(row: Row, program: string, of: Goal["of"]): string {
  const goal = row.goals?.find((one) => one.program === program && one.of === of);
  if (goal === undefined) return "";
  return `; goal ${goalText(goal)}${missedGoals(row).includes(goal) ? ", **missed**" : ""}`;
}
