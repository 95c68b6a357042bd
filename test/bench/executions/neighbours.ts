import { deploy, type ProjectSource } from "../../support/project.ts";
import { call } from "../../support/rest.ts";
import type { Runtime } from "../../support/runtimes.ts";
import type { TestServer } from "../../support/server.ts";
import { latencies, percentile, report, withServer } from "./setup.ts";

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

/** The latency of an agent, alone and beside one of another deployment that always leaks, spins or crashes. */
export async function beside(runtime: Runtime, seconds: number): Promise<void> {
  await withServer(runtime, async (server, url) => {
    await deploy(server, { name: "neighbours", agents: neighbours });
    const alone = await latencies(url, 50, seconds);
    report(`${runtime} alone`, alone);
    for (const name of Object.keys(neighbours ?? {})) {
      const stop = await keepRunning(server, name);
      const disturbed = await latencies(url, 50, seconds);
      const runs = await stop();
      report(`${runtime} beside one that ${name} (${runs} runs)`, disturbed);
      const ratio = percentile(disturbed, 0.99) / percentile(alone, 0.99);
      console.log(`${runtime} beside one that ${name}: p99 ratio ${ratio.toFixed(2)}, bound ${bound}`);
    }
  });
}

/** Runs it again whenever it has ended. @returns how to stop, which says how often it ran */
async function keepRunning(server: TestServer, name: string): Promise<() => Promise<number>> {
  let [runs, stopped, executionId] = [0, false, ""];
  const start = async (): Promise<void> => {
    const { json } = await call<{ execution_id: string }>(server, "POST", "/api/v1/executions", {
      json: { name, input: {}, project: "neighbours" },
    });
    executionId = json.execution_id;
  };
  await start();
  const loop = (async () => {
    while (!stopped) {
      const { json } = await call<{ status: string }>(server, "GET", `/api/v1/executions/${executionId}`);
      if (json.status !== "queued" && json.status !== "running" && json.status !== "waiting") {
        runs++;
        await start();
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return async () => {
    stopped = true;
    await loop;
    await call(server, "POST", `/api/v1/executions/${executionId}/cancel`, { json: {} });
    return runs;
  };
}
