import { existsSync } from "node:fs";
import { type Options, type Row, Skip } from "../../runner/case.ts";
import { runProgram } from "../../runner/program.ts";

interface Cost {
  name: string;
  ms: { median: number; p99: number; spread: [number, number] };
  ratio: { median: number; spread: [number, number] };
  bound: number | null;
}

const program = "start/cli.ts";
const other = "empty program";

/** Commands of the built package. Ranges are quartiles. */
export async function run({ rounds }: Options): Promise<Row[]> {
  if (!existsSync(new URL(`../../${program}`, import.meta.url))) throw new Skip("there is no such program");
  const pairs = rounds * 4;
  const args = ["--pairs", String(pairs), "--json"];
  const { results } = await runProgram<{ results: Cost[] }>("node", program, args);
  const [empty, ...commands] = results;
  if (empty === undefined) throw new Error("There is no empty program.");
  return commands.map(({ name, ms, ratio, bound }) => {
    const row: Row = {
      what: `\`svc ${name}\``,
      unit: "ms",
      programs: [
        { name: "svc", ...spread(ms), samples: pairs },
        { name: other, ...spread(empty.ms), ratio: spread(ratio), samples: pairs },
      ],
    };
    if (bound !== null) row.goals = [{ program: other, of: "ratio", atMost: bound }];
    return row;
  });
}

function spread(summary: { median: number; spread: [number, number] }) {
  return { median: summary.median, min: summary.spread[0], max: summary.spread[1] };
}
