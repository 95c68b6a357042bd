/**
 * `npm run bench [-- name…] [--list] [--json] [--docs] [--render] [--rounds 3] [--seconds 1.5]`: runs all cases or the named ones, each in
 * a process of its own. `--json` prints one document and nothing else on standard output. `--docs` writes the results, the
 * tables and the plots of docs/performance.md; with names, it replaces the results of these cases. `--render` writes
 * them from the stored results. A full run takes about
 * 15 minutes on two processors.
 */
import { parseArgs } from "node:util";
import { entries } from "./cases/index.ts";
import { renderDocuments, writeDocuments } from "./report/documents.ts";
import type { Results } from "./report/results.ts";
import { type CaseResult, missedGoals, type Options } from "./runner/case.ts";
import { runIsolated } from "./runner/isolated.ts";
import { describeMachine } from "./runner/machine.ts";
import { textOf } from "./runner/text.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    docs: { type: "boolean", default: false },
    render: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "1.5" },
  },
});

if (values.list) list();
else if (values.render) renderDocuments();
else await run();

function list(): void {
  const width = Math.max(...entries.map(({ name }) => name.length));
  for (const { name, summary } of entries) console.log(`${name.padEnd(width)}  ${summary}`);
}

async function run(): Promise<void> {
  const unknown = positionals.filter((name) => entries.every((entry) => entry.name !== name));
  if (unknown.length > 0) {
    console.error(
      `There is no case '${unknown.join("', '")}'. \`npm run bench -- --list\` prints all cases.`,
    );
    process.exitCode = 2;
    return;
  }
  const options: Options = { rounds: positive("rounds"), seconds: positive("seconds") };
  const results: Results = { machine: describeMachine(), options, cases: [] };
  // Progress must not mix with the document.
  const say = values.json ? console.error : console.log;
  for (const { name, summary } of entries) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const result: CaseResult = { name, summary, ...(await runIsolated(name, options)) };
    results.cases.push(result);
    say(textOf(result));
    // If the run is interrupted, the results until then are written.
    if (values.docs) writeDocuments({ ...results, cases: [result] }, true);
  }
  if (values.json) console.log(JSON.stringify(results, null, 2));
  if (values.docs && positionals.length === 0) writeDocuments(results, false);
  const seconds = results.cases.reduce((sum, result) => sum + result.seconds, 0);
  const failed = results.cases.filter((result) => result.failed !== undefined);
  const missed = results.cases.flatMap(({ rows }) => rows.flatMap(missedGoals));
  say(
    `${results.cases.length} cases in ${Math.round(seconds)} s, ${failed.length} failed, ${missed.length} goals missed`,
  );
  if (failed.length > 0) process.exitCode = 1;
}

function positive(name: "rounds" | "seconds"): number {
  const value = Number(values[name]);
  if (value > 0) return value;
  throw new Error(`Cannot run: --${name} must be a positive number, not '${values[name]}'.`);
}
