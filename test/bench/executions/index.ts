/**
 * `npm run bench:executions [-- --seconds 10]`: a webhook's whole way, with rate limits on and set high.
 *
 * - latency: 50 webhooks per second to a warm agent; from the request's first byte to the agent's first line, against
 *   the same without a store and a child process.
 * - throughput: as many webhooks as are accepted, a trivial agent run in its child process for each, its result stored;
 *   what ended per second against the accepts per second of the limit program, in turn.
 * - sustained: half of the rate that must be reached, for a minute.
 * - neighbours: the latency beside an agent of another deployment that leaks, spins or crashes.
 * - queue: accepts, latency and claims with a million executions waiting, against none; claims: these alone.
 */
import { parseArgs } from "node:util";
import { latency } from "./latency.ts";
import { beside } from "./neighbours.ts";
import { claims, queue } from "./queue.ts";
import { sustained, throughput } from "./throughput.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    pairs: { type: "string", default: "5" },
    queued: { type: "string", default: "1000000" },
    runtime: { type: "string" },
    neighbours: { type: "string", default: "1" },
    sustained: { type: "string", default: "60" },
    only: { type: "string", default: "latency,throughput,sustained,neighbours,queue" },
  },
});
const seconds = Number(values.seconds);
const parts = new Set(values.only.split(","));

if (parts.has("latency")) await latency(seconds, Number(values.pairs));
if (parts.has("throughput")) await throughput(seconds, Number(values.pairs));
if (parts.has("sustained")) await sustained(Number(values.sustained));
if (parts.has("neighbours")) {
  for (const runtime of ["node", "deno", "bun"] as const) {
    if (values.runtime !== undefined && values.runtime !== runtime) continue;
    await beside(runtime, Number(values.neighbours), seconds, Number(values.pairs));
  }
}
if (parts.has("claims")) await claims(seconds, Number(values.queued));
if (parts.has("queue")) await queue(seconds, Number(values.queued));
process.exit();
