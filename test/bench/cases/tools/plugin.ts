import { runtimes } from "../../../support/runtimes.ts";
import type { Options, Row } from "../../runner/case.ts";
import { runProgram } from "../../runner/program.ts";

const names = { node: "Node", bun: "Bun", deno: "Deno" };

/** On each runtime, in a process of its own. */
export async function run({ rounds }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runtime of runtimes) {
    const found = await runProgram<Row[]>(runtime, "plugin/program.ts", ["requests", String(rounds * 3)]);
    rows.push(...found.map((row) => ({ ...row, what: `${row.what}, ${names[runtime]}` })));
  }
  return rows;
}
