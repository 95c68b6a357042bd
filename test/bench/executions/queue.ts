import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { orderedId } from "../../../server/ids.ts";
import type { TestServer } from "../../support/server.ts";
import { load } from "../limit/child.ts";
import { Counter, latencies, report, withServer } from "./setup.ts";

/**
 * The cost of a long queue: accepts and latency with `queued` executions that are not due, and the rate of claims with the
 * same number of due executions, compared with an empty and a short queue.
 */
export async function queue(seconds: number, queued: number): Promise<void> {
  await withServer("node", async (server, url) => {
    report("queue empty, latency", await latencies(url, 50, seconds));
    const empty = await load({ url, bodyBytes: 150, seconds, ratePerSecond: 1000, headers: {} });
    console.log(`queue empty, at 1000/s: ${JSON.stringify(empty.latencyMs)} ms`);
    const most = await load({ url, bodyBytes: 150, seconds, headers: {} });
    console.log(`queue empty, as many as are accepted: ${Math.round(most.perSecond)}/s`);
    const counter = new Counter(server);
    await counter.untilDrained();
    counter.close();

    fill(server, queued, Date.now() + 3_600_000);
    report(`${queued} wait, latency`, await latencies(url, 50, seconds));
    const full = await load({ url, bodyBytes: 150, seconds, ratePerSecond: 1000, headers: {} });
    console.log(`${queued} wait, at 1000/s: ${JSON.stringify(full.latencyMs)} ms`);
    const mostFull = await load({ url, bodyBytes: 150, seconds, headers: {} });
    console.log(
      `${queued} wait, as many as are accepted: ${Math.round(mostFull.perSecond)}/s, ${(most.perSecond / mostFull.perSecond).toFixed(2)} times as long each`,
    );
  });
  await claims(seconds, queued);
}

/** Executions per second with many and with few due executions. */
export async function claims(seconds: number, queued: number): Promise<void> {
  const few = await claimRate(seconds, 100_000);
  const many = await claimRate(seconds, queued);
  console.log(
    `claimed and run: ${Math.round(few)}/s of 100000, ${Math.round(many)}/s of ${queued}; ${(few / many).toFixed(2)} times as long each`,
  );
}

/** Finished executions per second with many due executions. */
async function claimRate(seconds: number, queued: number): Promise<number> {
  let rate = Number.NaN;
  await withServer("node", async (server) => {
    await server.kill("SIGTERM");
    fill(server, queued, Date.now());
    await server.start();
    const counter = new Counter(server);
    const atStart = counter.ended;
    while (counter.ended < atStart + 1000) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = counter.ended;
    const startedAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    rate = (counter.ended - before) / ((performance.now() - startedAt) / 1000);
    counter.close();
  });
  return rate;
}

/** Inserts executions of the existing deployment. */
function fill(server: TestServer, count: number, dueAt: number): void {
  const db = new DatabaseSync(join(server.dataDir, "svc.db"));
  db.exec("PRAGMA busy_timeout = 10000");
  const from = db.prepare("SELECT * FROM executions LIMIT 1").get() ?? {};
  const insert = db.prepare(
    `INSERT INTO executions (org_id, execution_id, status, kind, name, origin, deployment_id, environment, input, due_at,
     created_at) VALUES (?, ?, 'queued', ?, ?, 'webhook', ?, ?, '{}', ?, ?)`,
  );
  for (let n = 0; n < count; n++) {
    if (n % 10_000 === 0) db.exec(n === 0 ? "BEGIN" : "COMMIT; BEGIN");
    const { org_id = "", kind = "", name = "", deployment_id = "", environment = "" } = from;
    insert.run(org_id, orderedId("exe"), kind, name, deployment_id, environment, dueAt, Date.now());
  }
  db.exec("COMMIT");
  db.close();
}
