import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestServer } from "../../support/server.ts";
import { type LimitProgram, load, startLimitProgram } from "../limit/child.ts";
import { Counter, withServer } from "./setup.ts";

/** Required executions per second, as a share of the accepts per second of the limit program. */
const bound = 0.2;

/** Executions per second at the maximum rate of webhooks, compared with the limit program in alternating rounds. */
export async function throughput(seconds: number, pairs: number, secrets: number): Promise<void> {
  await withLimitProgram(async (limit) => {
    const ratios: number[] = [];
    const measure = async (server: TestServer, url: string) => {
      const counter = new Counter(server);
      for (let pair = 0; pair < pairs; pair++) {
        const before = counter.ended;
        const startedAt = performance.now();
        const rate = () => (counter.ended - before) / ((performance.now() - startedAt) / 1000);
        const { answers } = await load({ url, bodyBytes: 150, seconds, headers: {} });
        const backlog = counter.waiting;
        const meanwhile = rate();
        await counter.untilDrained();
        const drained = rate();
        const bare = await acceptsPerSecond(limit, seconds);
        ratios.push(drained / bare);
        console.log(
          `throughput: ${Math.round(answers / seconds)} accepted/s, ${Math.round(meanwhile)} ended/s, backlog ${backlog}, ${Math.round(drained)} ended/s until drained; limit program ${Math.round(bare)}/s; ratio ${(drained / bare).toFixed(2)}`,
        );
      }
      counter.close();
    };
    await withServer("node", measure, secrets);
    ratios.sort((a, b) => a - b);
    console.log(
      `throughput: median ratio ${ratios[ratios.length >> 1]?.toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}), bound ${bound}`,
    );
  });
}

/** Half of the required rate for a minute by default: whether the backlog grows. */
export async function sustained(seconds: number): Promise<void> {
  await withLimitProgram(async (limit) => {
    const bare = await acceptsPerSecond(limit, 5);
    const ratePerSecond = Math.round((bare * bound) / 2);
    await withServer("node", async (server, url) => {
      const counter = new Counter(server);
      const samples: number[] = [];
      const timer = setInterval(() => samples.push(counter.waiting), 1000);
      const { answers, latencyMs } = await load({ url, bodyBytes: 150, seconds, ratePerSecond, headers: {} });
      clearInterval(timer);
      await counter.untilDrained();
      counter.close();
      const half = samples.length >> 1;
      const most = (some: number[]) => Math.max(0, ...some);
      console.log(
        `sustained: ${ratePerSecond}/s for ${seconds} s (limit program ${Math.round(bare)}/s), ${answers} accepted in ${JSON.stringify(latencyMs)} ms; backlog each second at most ${most(samples.slice(0, half))} in the first half, ${most(samples.slice(half))} in the second, ${samples.at(-1)} at the end`,
      );
    });
  });
}

async function withLimitProgram(work: (limit: LimitProgram) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-limit-"));
  const limit = await startLimitProgram(folder);
  try {
    await work(limit);
  } finally {
    await limit.stop();
    rmSync(folder, { recursive: true });
  }
}

async function acceptsPerSecond(limit: LimitProgram, seconds: number): Promise<number> {
  return (await load({ url: limit.url, bodyBytes: 150, seconds, headers: {} })).perSecond;
}
