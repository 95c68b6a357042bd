/**
 * Runs h2spec (RFC 7540 and RFC 7541) against the server on each runtime: `npm run test:h2spec [-- node bun deno]`. Fails
 * when a case fails that is not listed, and when a listed case passes.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, runtimes } from "../support/runtimes.ts";
import { TestServer } from "../support/server.ts";
import { knownFailures } from "./h2spec-failures.ts";
import { absence, findProgram } from "./programs.ts";

const allCases = 146;

interface Results {
  tests: readonly string[];
  failed: readonly string[];
}

async function runH2spec(program: string, runtime: Runtime): Promise<Results> {
  const server = new TestServer(runtime);
  const folder = mkdtempSync(join(tmpdir(), "svc-h2spec-"));
  const report = join(folder, "report.xml");
  await server.start();
  try {
    const { port } = new URL(server.url);
    const args = ["--host", "127.0.0.1", "--port", port, "--path", "/livez", "--junit-report", report];
    const { stdout, error } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 26 });
    if (error !== undefined) throw error;
    const results = readReport(readFileSync(report, "utf8"));
    if (results.tests.length !== allCases) {
      throw new Error(`h2spec has ${allCases} cases, and ${results.tests.length} ran:\n${stdout}`);
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
    await server.discard(false);
  }
}

/** The report is not well-formed XML: it holds the frames' bytes without escapes. */
function readReport(text: string): Results {
  const cases = /<testcase package="([^"]*)" classname="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g;
  const tests: string[] = [];
  const failed: string[] = [];
  for (const [, section = "", title = "", content = ""] of text.matchAll(cases)) {
    tests.push(`${section} ${title}`);
    if (content !== "") failed.push(`${section} ${title}`);
  }
  return { tests, failed };
}

/** The number of problems, which it prints. */
function compare(runtime: Runtime, { tests, failed }: Results): number {
  const known = knownFailures.filter((failure) => failure.runtimes.includes(runtime));
  const problems = [
    ...failed
      .filter((name) => !known.some(({ test }) => test === name))
      .map((name) => `fails and is not listed: ${name}`),
    ...known
      .filter(({ test }) => !failed.includes(test))
      .map(({ test }) => `is listed as failing and passes: ${test}`),
  ];
  for (const problem of problems) console.log(`${runtime}: ${problem}`);
  console.log(`${runtime}: ${tests.length - failed.length} of ${tests.length} cases passed`);
  return problems.length;
}

async function main(): Promise<number> {
  const program = findProgram("h2spec");
  if (program === null) {
    console.log(absence("h2spec"));
    return 0;
  }
  const chosen = process.argv.slice(2);
  let problems = 0;
  for (const runtime of runtimes.filter((name) => chosen.length === 0 || chosen.includes(name))) {
    problems += compare(runtime, await runH2spec(program, runtime));
  }
  return problems === 0 ? 0 : 1;
}

process.exit(await main());
