import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtLauncher } from "../../runner/built.ts";
import type { Goal, Options, Row } from "../../runner/case.ts";
import { interleave } from "../../runner/interleave.ts";
import { LatencyStore, latencyAgent } from "../../runner/latency.ts";
import { withFolder, withServer } from "../../runner/server.ts";

const other = "bare fork of the runtime";

/**
 * The runner of the deployment is ended before each webhook, which then starts one. The built package, because Node strips
 * types in a checkout.
 */
export async function run({ rounds }: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const setup = { agent: latencyAgent, launcher: builtLauncher(folder) };
    return withServer(setup, async (server, url) => {
      const program = join(folder, "bare.mjs");
      writeFileSync(program, "process.send(performance.timeOrigin + performance.now());");
      const store = new LatencyStore(server);
      const programs = await interleave(
        {
          svc: async () => {
            await endRunners(server.pid);
            await trigger(url);
            const latencies = await store.take();
            assert.equal(latencies.length, 1);
            return latencies[0] ?? Number.NaN;
          },
          [other]: async () => {
            await endRunners(server.pid);
            const at = performance.timeOrigin + performance.now();
            const child = fork(program);
            const [firstLineAt] = await once(child, "message");
            child.kill();
            return (firstLineAt as number) - at;
          },
        },
        { rounds: rounds * 3, warmUps: 1 },
      );
      store.close();
      const goals: Goal[] = [{ program: other, of: "ratio", atMost: 2.5 }];
      return [{ what: "webhook to the first line, without a runner", unit: "ms", programs, goals }];
    });
  });
}

async function trigger(url: string): Promise<void> {
  const t = String(Math.round((performance.timeOrigin + performance.now()) * 1000));
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(url, { method: "POST", headers, body: JSON.stringify({ t }) });
  assert.equal(status, 202);
}

/** The server also keeps a shell, which ends its runners should it be killed. */
async function endRunners(pid: number): Promise<void> {
  const runners = () =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(isRunner);
  for (const runner of runners()) process.kill(Number(runner), "SIGKILL");
  while (runners().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  // The server sees it, and may start a runner again: of each deployment one per second.
  await new Promise((resolve) => setTimeout(resolve, 600));
}

function isRunner(child: string): boolean {
  try {
    return child.trim() !== "" && readFileSync(`/proc/${child}/comm`, "latin1").trim() !== "sh";
  } catch {
    return false;
  }
}
