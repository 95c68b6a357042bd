/**
 * `npm run bench:executions [-- --seconds 10]`: end to end from the webhook, with rate limits on and set high.
 *
 * - latency: 50 webhooks per second to a warm agent. From the first byte of the request to the first line of the agent,
 *   compared with a server without store and runners.
 * - throughput: webhooks at the maximum rate, each with an execution of a trivial agent. Finished executions per second,
 *   compared with accepted requests per second of the limit program, in alternating rounds. `--secrets 20` gives the
 *   organization secrets, whose values the server redacts.
 * - typed: throughput of an agent with schemas of zod, compared with the same agent without them, over webhooks and
 *   RunExecution.
 * - sustained: half of the required rate for a minute.
 * - neighbours: the latency next to another deployment whose agent leaks memory, blocks or crashes.
 * - queue: accepts, latency and claims with a million queued executions, compared with none. claims: only the claims.
 */
import { parseArgs } from "node:util";
import { latency } from "./latency.ts";
import { beside } from "./neighbours.ts";
import { claims, queue } from "./queue.ts";
import { sustained, throughput } from "./throughput.ts";
import { typed } from "./typed.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    pairs: { type: "string", default: "5" },
    secrets: { type: "string", default: "0" },
    queued: { type: "string", default: "1000000" },
    runtime: { type: "string" },
    neighbours: { type: "string", default: "1" },
    sustained: { type: "string", default: "60" },
    only: { type: "string", default: "latency,throughput,typed,sustained,neighbours,queue" },
  },
});
const seconds = Number(values.seconds);
const parts = new Set(values.only.split(","));

if (parts.has("latency")) await latency(seconds, Number(values.pairs));
if (parts.has("throughput")) await throughput(seconds, Number(values.pairs), Number(values.secrets));
if (parts.has("typed")) await typed(seconds, Number(values.pairs));
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
