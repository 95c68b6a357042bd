import assert from "node:assert/strict";
import { deploy } from "../../../support/project.ts";
import { load } from "../../limit/child.ts";
import type { Options, Row } from "../../runner/case.ts";
import { programsOf, type Sample } from "../../runner/interleave.ts";
import { Store, trivialAgent, withServer } from "../../runner/server.ts";

const counts = [1, 10, 30];

/** The webhooks go to all deployments in turn, and each deployment has a runner. Compared with one deployment. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  return withServer({}, async (server, firstUrl) => {
    const store = new Store(server);
    const urls = [firstUrl];
    const found: Sample[][] = [];
    for (const count of counts) {
      while (urls.length < count) {
        const agents = { bench: trivialAgent };
        const name = `project-${urls.length}`;
        const { webhooks } = await deploy(server, { name, agents: { [name]: agents.bench } });
        urls.push(webhooks.find((webhook) => webhook.name === name)?.url ?? "");
      }
      const samples: Sample[] = [];
      // The first round starts the runners.
      for (let round = -1; round < rounds; round++) {
        const sample = await executed(urls, store, seconds);
        if (round >= 0) samples.push(sample);
      }
      found.push(samples);
    }
    store.close();
    return counts.map((count, index) => {
      const all = new Map([
        ["svc", found[index] ?? []],
        ["with 1 deployment", found[0] ?? []],
      ]);
      const programs = programsOf(all).slice(0, index === 0 ? 1 : 2);
      return {
        what: `${count} deployment${count === 1 ? "" : "s"}`,
        unit: "executions/s",
        programs,
        at: count,
      };
    });
  });
}

/** Executions per second until all have ended, and the latency of the 202. */
async function executed(
  [url = "", ...moreUrls]: readonly string[],
  store: Store,
  seconds: number,
): Promise<Sample> {
  const before = store.ended;
  const startedAt = performance.now();
  const { statuses, latencyMs } = await load({
    url,
    moreUrls,
    seconds,
    warmupSeconds: 0,
    bodyBytes: 150,
    headers: {},
  });
  await store.untilDrained();
  assert.equal(store.ended - before, statuses[202]);
  const value = (store.ended - before) / ((performance.now() - startedAt) / 1000);
  return { value, p50Ms: latencyMs.p50, p99Ms: latencyMs.p99 };
}
