/** Runs a module of a package and prints its output and its error as a runner describes it. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ErrorDescriber } from "../../server/executions/runner/errors.ts";

const [folder = "", module = ""] = process.argv.slice(2);
const describer = new ErrorDescriber(folder, "/nowhere");
const { default: run } = await import(pathToFileURL(join(folder, module)).href);
console.log(JSON.stringify(run({})));
try {
  run({ fails: true });
} catch (error) {
  console.log(JSON.stringify({ ...describer.describe(error), place: describer.place(error) }));
  console.log(JSON.stringify(describer.scrub((error as Error).stack ?? "")));
}
