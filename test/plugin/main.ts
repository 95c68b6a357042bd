/** Runs the suite in a process of its own: `<runtime> main.ts <SuiteInput as JSON>`; a line of JSON for each case. */
import { inspect } from "node:util";
import { runCase, type SuiteInput } from "./context.ts";
import { cases } from "./suite/index.ts";

const input = JSON.parse(process.argv[2] ?? "") as SuiteInput;
for (const one of cases) {
  let error: string | null = null;
  try {
    await runCase(input, one);
  } catch (thrown) {
    error = inspect(thrown, { depth: 4 });
  }
  process.stdout.write(`${JSON.stringify({ name: one.name, error })}\n`);
}
