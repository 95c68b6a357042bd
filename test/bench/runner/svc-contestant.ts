import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deploy } from "../../support/project.ts";
import { TestServer } from "../../support/server.ts";
import type { Contestant } from "./contestants.ts";
import { fill } from "./fill.ts";
import { LatencyStore, latencyAgent } from "./latency.ts";
import { highLimits } from "./server.ts";

/** svc with its embedded store, synced commits, and the agent in a runner: a process of its own. */
export const svc: Contestant = {
  name: "svc",
  async start() {
    const server = new TestServer("node", { env: highLimits });
    await server.start();
    const { webhooks } = await deploy(server, { agents: { bench: latencyAgent } });
    const url = webhooks[0]?.url ?? "";
    const headers = { "content-type": "application/json" };
    await fetch(url, { method: "POST", headers, body: '{"t":"0"}' });
    const latencies = new LatencyStore(server);
    await latencies.take();
    return {
      url,
      async drain(count) {
        fill(server, count, { input: JSON.stringify({ t: "0", text: "x".repeat(120) }) });
        assert.equal((await latencies.take()).length, count, "svc must run each execution once");
        return count / (spanMs(server, count) / 1000);
      },
      take: () => latencies.take(),
      async stop() {
        latencies.close();
        await server.discard(false);
      },
    };
  },
};

/** Milliseconds from the first start to the last end of the newest executions. */
function spanMs(server: TestServer, count: number): number {
  const db = new DatabaseSync(join(server.dataDir, "svc.db"), { readOnly: true });
  const sql = `SELECT MAX(finished_at) - MIN(started_at) AS ms FROM
    (SELECT started_at, finished_at FROM executions ORDER BY execution_id DESC LIMIT ?)`;
  const ms = Number(db.prepare(sql).get(count)?.ms);
  db.close();
  return ms;
}
