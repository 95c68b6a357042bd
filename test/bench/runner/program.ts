import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { commandOf, type Runtime } from "../../support/runtimes.ts";

/** Runs a program below test/bench that prints JSON in its last line. */
export async function runProgram<Result>(
  runtime: Runtime,
  path: string,
  args: readonly string[],
): Promise<Result> {
  const [program, ...before] = commandOf(runtime);
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const options = { maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(program, [...before, file, ...args], options);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Result;
}
