import { deploy, type ProjectSource } from "../../support/project.ts";
import { ended, ok, run } from "../../support/rest.ts";
import type { Runtime } from "../../support/runtimes.ts";
import type { TestServer } from "../../support/server.ts";
import type { ExecutionJson } from "../../support/shapes.ts";
import { latencies, percentile, withServer } from "./setup.ts";

/** The p99 of others may grow by at most this. */
const bound = 3;

const neighbours: ProjectSource["agents"] = {
  leaks: {
    code: "const kept = []; export default async () => { for (;;) { kept.push(new Array(1e5).fill(1.5)); await null; } };",
    timeout: 30,
  },
  spins: { code: "export default () => { for (;;); };", timeout: 30 },
  crashes: { code: "export default () => { process.abort(); };", timeout: 30 },
};

/**
 * The latency of an agent, alone and beside one of another deployment that always leaks, spins or crashes, in turn; the
 * medians of each one's p99 are compared.
 *
 * @param atOnce - executions of the neighbour at any time
 */
export async function beside(
  runtime: Runtime,
  atOnce: number,
  seconds: number,
  rounds: number,
): Promise<void> {
  await withServer(runtime, async (server, url) => {
    await deploy(server, { name: "neighbours", agents: neighbours });
    for (const name of Object.keys(neighbours ?? {})) {
      const alone: number[] = [];
      const disturbed: number[] = [];
      let runs = 0;
      for (let round = 0; round < rounds; round++) {
        alone.push(percentile(await latencies(url, 50, seconds), 0.99));
        const stops = await Promise.all(Array.from({ length: atOnce }, () => keepRunning(server, name)));
        // It does so for ever; how it begins is not what is measured.
        await new Promise((resolve) => setTimeout(resolve, 1000));
        disturbed.push(percentile(await latencies(url, 50, seconds), 0.99));
        for (const count of await Promise.all(stops.map((stop) => stop()))) runs += count;
      }
      const shown = (some: number[]) => some.map((one) => one.toFixed(1)).join(", ");
      console.log(
        `${runtime} beside ${atOnce} that ${name} (${runs} ended): p99 ${shown(disturbed)} ms, alone ${shown(alone)} ms, ratio of medians ${(median(disturbed) / median(alone)).toFixed(2)}, bound ${bound}`,
      );
    }
  });
}

function median(some: readonly number[]): number {
  return some.toSorted((a, b) => a - b)[some.length >> 1] ?? Number.NaN;
}

/** Runs it again whenever it has ended. @returns how to stop, which says how often it ran */
async function keepRunning(server: TestServer, name: string): Promise<() => Promise<number>> {
  let [runs, stopped] = [0, false];
  let { execution_id: id } = await run(server, name);
  const loop = (async () => {
    while (!stopped) {
      const { finished_at } = await ok<ExecutionJson>(server, "GET", `/api/v1/executions/${id}`);
      if (finished_at !== undefined) {
        runs++;
        id = (await run(server, name)).execution_id;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return async () => {
    stopped = true;
    await loop;
    await ok(server, "POST", `/api/v1/executions/${id}/cancel`, { json: {} });
    await ended(server, id);
    return runs;
  };
}
