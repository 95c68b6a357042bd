import assert from "node:assert/strict";
import { type Runtime, runtimes } from "../../../support/runtimes.ts";
import type { TestServer } from "../../../support/server.ts";
import { load } from "../../limit/child.ts";
import type { Options, Row } from "../../runner/case.ts";
import { interleave, type Sample } from "../../runner/interleave.ts";
import { LatencyStore, latencyAgent, sampleLatency, stampedBody } from "../../runner/latency.ts";
import { withServer } from "../../runner/server.ts";

/** Ratios are those of Node to the other runtimes. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  return withServers([...runtimes], {}, async (running) => {
    const each = (measure: (one: Running) => Promise<Sample>) =>
      interleave(
        Object.fromEntries(Object.entries(running).map(([name, one]) => [name, () => measure(one)])),
        { rounds, warmUps: 1 },
      );
    const executed = await each((one) => throughput(one, seconds));
    const latencies = await each(({ url, store }) =>
      sampleLatency({ url, ratePerSecond: 20, seconds }, store.take),
    );
    return [
      { what: "webhook to execution, at saturation", unit: "executions/s", programs: executed },
      { what: "webhook to the first line, at 20 per second", unit: "ms at the median", programs: latencies },
    ];
  });
}

interface Running {
  server: TestServer;
  url: string;
  store: LatencyStore;
}

/** Starts one server after another, and stops them when the work is done. */
async function withServers<Result>(
  [runtime, ...rest]: readonly Runtime[],
  running: Record<string, Running>,
  work: (running: Record<string, Running>) => Promise<Result>,
): Promise<Result> {
  if (runtime === undefined) return work(running);
  return withServer({ runtime, agent: latencyAgent }, async (server, url) => {
    const store = new LatencyStore(server);
    const name = { node: "Node", bun: "Bun", deno: "Deno" }[runtime];
    return withServers(rest, { ...running, [name]: { server, url, store } }, work);
  });
}

async function throughput({ url, store }: Running, seconds: number): Promise<Sample> {
  const options = { url, seconds, warmupSeconds: 0, body: stampedBody, bodyBytes: 60, headers: {} };
  const startedAt = performance.now();
  const { statuses, latencyMs } = await load({ ...options, digits: "time" });
  const { length } = await store.take();
  assert.equal(length, statuses[202]);
  const value = length / ((performance.now() - startedAt) / 1000);
  return { value, p50Ms: latencyMs.p50, p99Ms: latencyMs.p99 };
}
