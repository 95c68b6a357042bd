/**
 * `node test/bench/executions/saturation.ts [--rounds 3] [--seconds 5] [--json]`: webhooks at the maximum rate over 64
 * connections, each with an execution of a trivial agent. The latency of the 202 while everything that was accepted also
 * runs, the accepts per second, and the executions per second until the queue is empty.
 */
import { parseArgs } from "node:util";
import { load } from "../limit/child.ts";
import { Counter, withServer } from "./setup.ts";

export interface SaturationRound {
  /** Milliseconds from the request to its 202. */
  p50: number;
  p99: number;
  max: number;
  acceptsPerSecond: number;
  /** Finished executions per second during the load. */
  endsPerSecond: number;
  /** Accepted and finished executions per second, until the last one has finished. */
  endToEndPerSecond: number;
}

export async function saturation(rounds: number, seconds: number): Promise<SaturationRound[]> {
  const results: SaturationRound[] = [];
  await withServer("node", async (server, url) => {
    const counter = new Counter(server);
    await load({ url, bodyBytes: 150, seconds: 2, headers: {} });
    for (let round = 0; round < rounds; round++) {
      await counter.untilDrained();
      const before = counter.ended;
      const startedAt = performance.now();
      const rate = () => (counter.ended - before) / ((performance.now() - startedAt) / 1000);
      const { perSecond, latencyMs } = await load({ url, bodyBytes: 150, seconds, headers: {} });
      const endsPerSecond = rate();
      await counter.untilDrained();
      const { p50, p99, max } = latencyMs;
      results.push({ p50, p99, max, acceptsPerSecond: perSecond, endsPerSecond, endToEndPerSecond: rate() });
    }
    counter.close();
  });
  return results;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "5" },
      json: { type: "boolean", default: false },
    },
  });
  const rounds = await saturation(Number(values.rounds), Number(values.seconds));
  if (values.json) console.log(JSON.stringify({ case: "saturation", rounds }));
  else {
    for (const { p50, p99, max, ...rates } of rounds) {
      const [accepts, ends, all] = Object.values(rates).map(Math.round);
      console.log(
        `202 in p50 ${p50} ms, p99 ${p99} ms, max ${max} ms; ${accepts} accepted/s, ${ends} ended/s meanwhile, ${all} ended/s until drained`,
      );
    }
  }
  process.exit();
}
