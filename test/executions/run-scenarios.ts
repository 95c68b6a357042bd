/** Runs the scenarios named on the command line, or all, and prints one line of JSON for each. */
import { scenarios } from "./scenarios/index.ts";

const wanted = process.argv.slice(2);
for (const { name, run } of scenarios) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  const startedAtMs = performance.now();
  let line: object;
  try {
    line = await run();
  } catch (error) {
    line = { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  console.log(JSON.stringify({ name, tookMs: Math.round(performance.now() - startedAtMs), ...line }));
}
