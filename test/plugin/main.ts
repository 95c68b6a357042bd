/** Runs the suite as `<runtime> main.ts <SuiteInput as JSON>` and prints a line of JSON for each case. */
import { inspect } from "node:util";
import { runCase, type SuiteInput } from "./context.ts";
import { cases } from "./suite/index.ts";

const input = JSON.parse(process.argv[2] ?? "") as SuiteInput;
for (const testCase of cases) {
  let error: string | null = null;
  try {
    await runCase(input, testCase);
  } catch (thrown) {
    error = inspect(thrown, { depth: 4 });
  }
  process.stdout.write(`${JSON.stringify({ name: testCase.name, error })}\n`);
}
