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

/**
 * The response is larger than the window of the stream, so that the stream stays half closed. A small response closes the
 * stream before the next frame of h2spec arrives in about one of ten runs, also with a bare server of `node:http2`.
 */
const largeResponse = "/openapi.json";
const smallResponse = "/livez";
const halfClosedCases = ["http2/5.1/5", "http2/5.1/6", "http2/6.1/2"];

interface Results {
  tests: readonly string[];
  failed: readonly string[];
}

async function runH2spec(program: string, runtime: Runtime): Promise<Results> {
  const server = new TestServer(runtime);
  await server.start();
  try {
    const port = Number(new URL(server.url).port);
    const all = runCases(program, port, smallResponse, []);
    if (all.tests.length !== allCases) {
      throw new Error(`h2spec has ${allCases} cases, and ${all.tests.length} ran.`);
    }
    // The server creates this response at the first request for it, which must not delay a case.
    await (await fetch(server.url + largeResponse)).text();
    const again = runCases(program, port, largeResponse, halfClosedCases);
    const others = all.failed.filter((name) => !again.tests.includes(name));
    return { tests: all.tests, failed: [...others, ...again.failed] };
  } finally {
    await server.discard(false);
  }
}

/** @param cases - none means all */
function runCases(program: string, port: number, path: string, cases: readonly string[]): Results {
  const folder = mkdtempSync(join(tmpdir(), "svc-h2spec-"));
  const report = join(folder, "report.xml");
  try {
    const options = ["--host", "127.0.0.1", "--port", String(port), "--path", path, "--junit-report", report];
    const { error } = spawnSync(program, [...options, ...cases], { encoding: "utf8", maxBuffer: 2 ** 26 });
    if (error !== undefined) throw error;
    return readReport(readFileSync(report, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
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
