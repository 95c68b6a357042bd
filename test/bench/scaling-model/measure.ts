/**
 * Measures the processor time of one webhook and its execution in each part: one api process, one worker and PostgreSQL,
 * with `fsync` on. Accepting and executing are measured one after the other, so that PostgreSQL's share of each is known.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { onDatabase } from "../../support/postgres/databases.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { deploy } from "../../support/project.ts";
import { TestServer } from "../../support/server.ts";
import { load } from "../limit/child.ts";
import type { Figures } from "./model.ts";
import { postmaster, processorTime } from "./processor-time.ts";

const env = {
  SVC_API_KEY: "svc_scaling_0123456789abcdef",
  SVC_WEBHOOK_RATE: "10000000",
  SVC_WEBHOOK_BURST: "10000000",
  SVC_ORGANIZATION_RATE: "10000000",
  SVC_ORGANIZATION_BURST: "10000000",
};
const agents = { trivial: { code: "export default () => 1;", webhooks: [{ slug: "in" }] } };

export async function measure(seconds: number): Promise<Figures> {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-scaling-"));
  const database = await PostgresServer.start();
  const url = database.url();
  const options = { dataDir, env: { ...env, SVC_DATABASE_URL: url } };
  const api = new TestServer("node", { ...options, args: ["--role", "api"] });
  const worker = new TestServer("node", { ...options, args: ["--role", "worker"] });
  const databaseMs = (): number => {
    const { own, descendants } = processorTime(postmaster(database.port));
    return own + descendants;
  };
  const count = async (status: string): Promise<number> =>
    (await onDatabase<{ n: number }>(url, `SELECT count(*)::int AS n FROM executions WHERE ${status}`))[0]
      ?.n ?? 0;
  const walBytes = async (): Promise<number> =>
    Number((await onDatabase<{ n: string }>(url, "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS n"))[0]?.n);
  try {
    await api.start();
    await worker.start();
    const target = (await deploy(api, { agents })).webhooks[0]?.url ?? "";
    const drained = async (): Promise<void> => {
      while ((await count("finished_at IS NULL")) > 0) await setTimeout(200);
    };
    await load({ url: target, bodyBytes: 150, seconds: 2, headers: {} });
    await drained();

    const idleMs = databaseMs();
    await setTimeout(5_000);
    const idleDatabase = (databaseMs() - idleMs) / 5 / 2;

    await worker.kill("SIGTERM");
    const before = {
      api: processorTime(api.pid).own,
      database: databaseMs(),
      wal: await walBytes(),
      count: await count("true"),
    };
    const { perSecond } = await load({ url: target, bodyBytes: 150, seconds, headers: {} });
    const accepted = (await count("true")) - before.count;
    const accept = {
      apiMs: (processorTime(api.pid).own - before.api) / accepted,
      databaseMs: (databaseMs() - before.database) / accepted,
    };

    await worker.start();
    const start = {
      worker: processorTime(worker.pid),
      database: databaseMs(),
      left: await count("finished_at IS NULL"),
      at: performance.now(),
    };
    await drained();
    const executedPerSecond = start.left / ((performance.now() - start.at) / 1000);
    const end = processorTime(worker.pid);
    const execute = {
      workerMs: (end.own - start.worker.own) / start.left,
      runnerMs: (end.descendants - start.worker.descendants) / start.left,
      databaseMs: (databaseMs() - start.database) / start.left,
    };
    return {
      accept,
      execute,
      walBytes: ((await walBytes()) - before.wal) / accepted,
      idleDatabaseMs: idleDatabase,
      notification: await measureNotifications(url, databaseMs),
      rates: { acceptedPerSecond: perSecond, executedPerSecond },
    };
  } finally {
    await Promise.all([api.kill("SIGKILL"), worker.kill("SIGKILL")]);
    await database.discard();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The cost of one notification for PostgreSQL and for the process that receives it. */
export async function measureNotifications(
  url: string,
  databaseMs: () => number,
): Promise<Figures["notification"]> {
  const listening = await measureChannel(url, "model", databaseMs);
  const ignoring = await measureChannel(url, "other", databaseMs);
  return {
    databaseMs: listening.databaseMs,
    ignoredMs: ignoring.databaseMs,
    receiverMs: listening.receiverMs,
  };
}

/** Sends notifications on the channel `model` to 20 connections that listen to `channel`. */
async function measureChannel(
  url: string,
  channel: string,
  databaseMs: () => number,
): Promise<{ databaseMs: number; receiverMs: number }> {
  const receivers = 20;
  const sent = 3_000;
  let ended = 0;
  const clients = await Promise.all(
    Array.from({ length: receivers + 1 }, async (_, index) => {
      const client = new pg.Client({ connectionString: url });
      client.on("notification", ({ payload }) => {
        if (payload === "end") ended++;
      });
      await client.connect();
      if (index > 0) await client.query(`LISTEN ${channel}`);
      return client;
    }),
  );
  const payload = JSON.stringify({
    from: "0".repeat(36),
    topics: { queued: Array(8).fill("dep_".padEnd(30, "0")) },
  });
  const before = { database: databaseMs(), own: process.cpuUsage() };
  for (let n = 0; n < sent; n++) await clients[0]?.query("SELECT pg_notify('model', $1)", [payload]);
  // PostgreSQL delivers notifications in their order.
  await clients[0]?.query("SELECT pg_notify($1, 'end')", [channel]);
  while (ended < receivers) await setTimeout(10);
  const { user, system } = process.cpuUsage(before.own);
  const deliveries = sent * receivers;
  const result = {
    databaseMs: (databaseMs() - before.database) / deliveries,
    receiverMs: (user + system) / 1000 / deliveries,
  };
  await Promise.all(clients.map((client) => client.end()));
  return result;
}
