/** The server in the test of orphans: starts a runner for each named occupation, and waits to be killed. */
import { Lab } from "./lab.ts";

const [port, ...occupations] = process.argv.slice(2);
const lab = new Lab("host", { runnersPerDeployment: occupations.length + 1, executionsPerRunner: 1 });
console.log(lab.folder);
await Promise.all(
  occupations.map((then) =>
    lab.run("lifeline", { port: Number(port), then }, { timeoutMs: 600_000, deploymentId: `dep_${then}` }),
  ),
);
