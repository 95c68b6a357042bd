import type { Options, Row } from "../../runner/case.ts";
import { runProgram } from "../../runner/program.ts";

export async function run(_options: Options): Promise<Row[]> {
  return runProgram<Row[]>("node", "plugin/program.ts", ["files"]);
}
