import { existsSync } from "node:fs";
import { type Goal, type Options, type Row, Skip } from "../../runner/case.ts";
import { programsOf } from "../../runner/interleave.ts";
import { runProgram } from "../../runner/program.ts";

interface Round {
  filter: "nothing" | "everything";
  alone: number;
  followed: number;
}

const program = "followers.ts";
const other = "without streams";

/** 100 streams of the log and 100 of one execution, while all accepted webhooks are executed. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  if (!existsSync(new URL(`../../${program}`, import.meta.url))) throw new Skip("there is no such program");
  const args = ["--pairs", String(rounds), "--seconds", String(seconds), "--json"];
  const found = await runProgram<{ rounds: Round[] }>("node", program, args);
  return (["nothing", "everything"] as const).map((filter) => {
    const own = found.rounds.filter((round) => round.filter === filter);
    const all = new Map([
      ["svc", own.map(({ followed }) => followed)],
      [other, own.map(({ alone }) => alone)],
    ]);
    const what = `200 streams whose filters match ${filter}`;
    const goals: Goal[] = [{ program: other, of: "ratio", atLeast: 0.9 }];
    return { what, unit: "accepted webhooks/s", programs: programsOf(all), goals };
  });
}
