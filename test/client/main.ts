/** Runs the cases as `<runtime> main.ts <Input as JSON>` and prints a line of JSON for each. */
import { inspect } from "node:util";
import { createClient } from "../../client/index.ts";
import { cases, type Input } from "./cases.ts";

const input = JSON.parse(process.argv[2] ?? "") as Input;
const client = createClient({ baseUrl: `${input.url}/`, apiKey: input.apiKey });
process.on("unhandledRejection", (reason) => {
  console.error("Unhandled rejection:", reason);
  process.exit(1);
});
/** Below the time limit of the hook that runs this program, so that a case that hangs is named. */
const limitMs = 25_000;

for (const testCase of cases) {
  let error: string | null = null;
  try {
    await within(limitMs, testCase.run(client, input));
  } catch (thrown) {
    error = inspect(thrown, { depth: 4 });
  }
  process.stdout.write(`${JSON.stringify({ name: testCase.name, error })}\n`);
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`The case takes longer than ${ms} ms.`)), ms);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
