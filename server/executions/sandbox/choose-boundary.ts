/** Chooses the boundary around runners from the configuration and from what this machine supports. */
import { spawnSync } from "node:child_process";
import type { RunnerConfig } from "../../config.ts";
import { StartError } from "../../errors.ts";
import { type RuntimeName, runtime } from "../../runtime.ts";
import { type Boundary, defaultScratchBytes } from "./boundary.ts";
import { exposingPath, probeBubblewrap } from "./bubblewrap.ts";
import { asProgram, findProgram } from "./find-program.ts";

export interface BoundaryOptions extends RunnerConfig {
  dataDir: string;
  env: Record<string, string | undefined>;
}

/** The oldest major and minor version of each runtime that runs the runner's program. */
const oldest: Readonly<Record<RuntimeName, readonly [number, number]>> = {
  node: [24, 0],
  bun: [1, 4],
  deno: [2, 9],
};

/** @throws StartError when the configured boundary is not available */
export function chooseBoundary(options: BoundaryOptions): Boundary {
  const { network } = options;
  const name = options.runtime ?? runtime.name;
  const { binary, version } = findRuntime(name, options);
  const bwrap = findProgram("bwrap", options.env);
  const problem = options.sandbox === "none" ? "SVC_SANDBOX is none" : sandboxProblem(bwrap, binary, options);
  if (problem !== null && options.sandbox === "bwrap") {
    throw new StartError(
      `Cannot run agents inside bubblewrap: ${problem}.`,
      "Install bubblewrap and allow unprivileged user namespaces, or set SVC_SANDBOX to auto or none.",
      undefined,
    );
  }
  return {
    runtime: name,
    binary,
    version,
    bwrap: problem === null ? bwrap : null,
    withoutSandbox: problem,
    network,
    scratchBytes: defaultScratchBytes,
  };
}

function sandboxProblem(bwrap: string | null, binary: string, { dataDir }: BoundaryOptions): string | null {
  if (process.platform !== "linux") return "bubblewrap needs Linux";
  if (bwrap === null) return "the program 'bwrap' is not installed";
  const exposing = exposingPath(dataDir);
  if (exposing !== undefined)
    return `the data folder ${dataDir} is inside ${exposing}, which runners can read`;
  return probeBubblewrap(bwrap, binary);
}

function findRuntime(name: RuntimeName, { path, env }: BoundaryOptions): { binary: string; version: string } {
  if (path === null && name === runtime.name) {
    return { binary: process.execPath, version: runtime.version };
  }
  const binary = path === null ? findProgram(name, env) : asProgram(path);
  if (binary === null) {
    const place = path === null ? "on the PATH or in node_modules/.bin" : `at ${path}`;
    throw new StartError(
      `Cannot run agents on ${name}: there is no program '${name}' ${place}.`,
      `Install ${name}, or set SVC_RUNNER_PATH to its program.`,
      undefined,
    );
  }
  return { binary, version: checkedVersion(name, binary) };
}

/** The first line of `--version`: `v24.21.0`, `1.4.4`, `deno 2.9.5 (…)`. */
function checkedVersion(name: RuntimeName, binary: string): string {
  const { stdout } = spawnSync(binary, ["--version"], { encoding: "utf8", timeout: 10_000 });
  const [version = "unknown", major, minor] = /(\d+)\.(\d+)\.\d+/.exec(stdout ?? "") ?? [];
  const [oldestMajor, oldestMinor] = oldest[name];
  const [majorNumber, minorNumber] = [Number(major ?? 0), Number(minor ?? 0)];
  if (majorNumber > oldestMajor || (majorNumber === oldestMajor && minorNumber >= oldestMinor))
    return version;
  throw new StartError(
    `Cannot run agents on ${name}: ${binary} is version ${version}, and ${oldestMajor}.${oldestMinor} or later is needed.`,
    `Install a newer ${name}, or name its program with SVC_RUNNER_PATH.`,
    undefined,
  );
}
