/**
 * Runs Connect's conformance suite against the listener and the RPC handler, on each runtime:
 * `npm run test:conformance [-- node bun deno] [HTTP/1.1 HTTP/2 "HTTP/1.1 TLS" "HTTP/2 TLS"]`. By default all runtimes and all parts.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { commandOf, type Runtime, runtimes } from "../support/runtimes.ts";
import { absence, findProgram } from "./programs.ts";

/** With `conf.yaml`, which has Brotli, TLS and the message-size cases over both versions of HTTP. */
const allCases = 5_012;

/**
 * Cases that fail on all runtimes: requests with an unknown content type, codec, HTTP method or path. The suite expects the
 * HTTP status without details. The server adds the code and `google.rpc.ErrorInfo` with the reason, which the suite does
 * not know. Clients of these protocols send no such requests.
 */
const knownFailures = {
  patterns: [
    "**/unexpected-codec",
    "**/unexpected-verb",
    "**/unexpected-uri",
    "Unexpected Requests/**/unexpected-content-type",
  ],
  cases: 40,
};

const [http1, tls] = ["**/HTTPVersion:1/**", "**/TLS:true/**"];
/** Each case is in one part. A part takes one to four minutes. */
const parts = {
  "HTTP/1.1": ["--run", http1, "--skip", tls],
  "HTTP/2": ["--skip", http1, "--skip", tls],
  "HTTP/1.1 TLS": ["--run", tls, "--skip", "**/HTTPVersion:2/**"],
  "HTTP/2 TLS": ["--run", tls, "--skip", http1],
} as const;
type Part = keyof typeof parts;
const partNames = Object.keys(parts) as Part[];

/** The defaults, four servers with eight calls each, exceed the time limit of the suite on two busy cores. */
const load = ["--max-servers", "2", "--parallel", "4"];

interface Counts {
  passed: number;
  knownToFail: number;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** @throws Error when a case fails that is not listed, or when a listed one passes */
function runPart(program: string, runtime: Runtime, part: Part): Counts {
  const args = [
    ...["--mode", "server", "--conf", here("conf.yaml"), ...load, ...parts[part]],
    ...knownFailures.patterns.flatMap((pattern) => ["--known-failing", pattern]),
    ...["--", ...commandOf(runtime), here("server.ts")],
  ];
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const output = `${stdout}${stderr}`;
  if (error !== undefined || status !== 0) {
    throw new Error(`connectconformance failed on ${runtime} over ${part}:\n${output.slice(-20_000)}`, {
      cause: error,
    });
  }
  return { passed: count(/(\d+) passed/, output), knownToFail: count(/(\d+) failed as expected/, output) };
}

function count(pattern: RegExp, output: string): number {
  const [, digits] = pattern.exec(output) ?? [];
  if (digits === undefined) throw new Error(`connectconformance did not print ${pattern}:\n${output}`);
  return Number(digits);
}

function runAll(program: string, runtime: Runtime, chosen: readonly Part[]): void {
  const sum: Counts = { passed: 0, knownToFail: 0 };
  for (const part of chosen) {
    const { passed, knownToFail } = runPart(program, runtime, part);
    console.log(`${runtime}, ${part}: ${passed} passed, ${knownToFail} failed as listed`);
    sum.passed += passed;
    sum.knownToFail += knownToFail;
  }
  if (chosen.length < partNames.length) return;
  const cases = sum.passed + sum.knownToFail;
  console.log(`${runtime}: ${sum.passed} of ${cases} cases passed, ${sum.knownToFail} failed as listed`);
  if (cases !== allCases || sum.knownToFail !== knownFailures.cases) {
    throw new Error(`The suite must have ${allCases} cases, of which ${knownFailures.cases} fail as listed.`);
  }
}

function main(): number {
  const program = findProgram("connectconformance");
  if (program === null) {
    console.log(absence("connectconformance"));
    return 0;
  }
  const chosen = process.argv.slice(2);
  const unknown = chosen.find((name) => ![...runtimes, ...partNames].includes(name as Runtime | Part));
  if (unknown !== undefined) throw new Error(`There is no runtime or part '${unknown}'.`);
  const some = <Name extends string>(names: readonly Name[]) => {
    const named = names.filter((name) => chosen.includes(name));
    return named.length === 0 ? names : named;
  };
  for (const runtime of some(runtimes)) runAll(program, runtime, some(partNames));
  return 0;
}

process.exit(main());
