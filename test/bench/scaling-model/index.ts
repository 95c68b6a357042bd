/**
 * `npm run bench:scaling [-- --measure --seconds 8]`: what 1, 10 and 100 nodes can do, and their first bottleneck. Uses the
 * figures of `figures.ts`, or measures them with `--measure` (Linux).
 */
import { parseArgs } from "node:util";
import { figures as stored } from "./figures.ts";
import { measure } from "./measure.ts";
import { estimate, type Machine } from "./model.ts";

const { values } = parseArgs({
  options: { measure: { type: "boolean", default: false }, seconds: { type: "string", default: "8" } },
});
const figures = values.measure ? await measure(Number(values.seconds)) : stored;
console.log(JSON.stringify(figures, null, 2));

const base: Machine = {
  databaseProcessors: 16,
  runnerProcessors: 4,
  walBytesPerSecond: 200e6,
  waitingShare: 0,
  connectionsPerProcess: 9,
  maxConnections: 500,
};
const cases = [4, 16, 64].flatMap((databaseProcessors) =>
  [0, 1].map((waitingShare) => ({ databaseProcessors, waitingShare })),
);
for (const { databaseProcessors, waitingShare } of cases) {
  const waiting = waitingShare === 0 ? "no process" : "every process";
  console.log(
    `\nPostgreSQL with ${databaseProcessors} processors, requests wait for executions in ${waiting}`,
  );
  console.log(
    "| nodes | executions/s | first bottleneck | api | worker | runners | PostgreSQL | WAL | notifications | wait | connections |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|---|");
  for (const nodes of [1, 10, 100]) {
    const result = estimate(figures, { ...base, databaseProcessors, waitingShare }, nodes);
    const { perSecond, bottleneck, utilization, databaseWaitMs, connections } = result;
    const shares = Object.values(utilization).map((share) => `${Math.round(share * 100)} %`);
    const limit = result.fitsConnections ? "" : ` (over ${base.maxConnections})`;
    console.log(
      `| ${nodes} | ${Math.round(perSecond)} | ${bottleneck} | ${shares.join(" | ")} | ${Math.round(result.notificationShare * 100)} % of PostgreSQL | ${databaseWaitMs.toFixed(2)} ms | ${connections}${limit} |`,
    );
  }
}
process.exit();
