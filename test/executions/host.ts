/**
 * The server in the test of orphans: starts a runner for each named occupation, and waits to be killed. With
 * `LAB_RUNNER`, runners of that runtime run inside bubblewrap.
 */
import { tmpdir } from "node:os";
import { chooseBoundary } from "../../server/executions/sandbox/choose-boundary.ts";
import type { RuntimeName } from "../../server/runtime.ts";
import { Lab } from "./lab.ts";

const [port, ...occupations] = process.argv.slice(2);
const runtime = process.env.LAB_RUNNER as RuntimeName | undefined;
const boundary =
  runtime &&
  chooseBoundary({
    runtime,
    path: null,
    sandbox: "bwrap",
    network: "all",
    dataDir: tmpdir(),
    env: process.env,
  });
const limits = { runnersPerDeployment: occupations.length + 1, executionsPerRunner: 1 };
const lab = new Lab("host", limits, boundary);
console.log(lab.folder);
await Promise.all(
  occupations.map((then) =>
    lab.run("lifeline", { port: Number(port), then }, { timeoutMs: 600_000, deploymentId: `dep_${then}` }),
  ),
);
