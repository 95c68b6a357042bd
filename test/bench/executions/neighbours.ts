import { deploy, type ProjectSource } from "../../support/project.ts";
import { ended, ok, run } from "../../support/rest.ts";
import type { Runtime } from "../../support/runtimes.ts";
import type { TestServer } from "../../support/server.ts";
import type { ExecutionJson } from "../../support/shapes.ts";
import { latencies, percentile, withServer } from "./setup.ts";

/** The limit of the p99 next to a neighbour, as a multiple of the p99 alone. */
const bound = 5;

const neighbours: ProjectSource["agents"] = {
  leaks: {
    code: "const kept = []; export default async () => { for (;;) { kept.push(new Array(1e5).fill(1.5)); await null; } };",
    timeout: 30,
  },
  spins: { code: "export default () => { for (;;); };", timeout: 30 },
  crashes: { code: "export default () => { process.abort(); };", timeout: 30 },
};

/**
 * Compares the latency of an agent, alone and next to a deployment whose agent leaks memory, blocks or crashes. Compares the
 * medians of the p99 of alternating rounds.
 *
 * @param atOnce - concurrent executions of the neighbour
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
        // Excludes the start of the neighbour from the measurement.
        await new Promise((resolve) => setTimeout(resolve, 1000));
        disturbed.push(percentile(await latencies(url, 50, seconds), 0.99));
        for (const count of await Promise.all(stops.map((stop) => stop()))) runs += count;
      }
      const shown = (some: number[]) => some.map((one) => one.toFixed(1)).join(", ");
      console.log(
        `${runtime} next to ${atOnce} of '${name}' (${runs} ended): p99 ${shown(disturbed)} ms, alone ${shown(alone)} ms, ratio of medians ${(median(disturbed) / median(alone)).toFixed(2)}, bound ${bound}`,
      );
    }
  });
}

function median(some: readonly number[]): number {
  return some.toSorted((a, b) => a - b)[some.length >> 1] ?? Number.NaN;
}

/** Runs an agent continuously. @returns a function that stops it and returns the number of runs */
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
