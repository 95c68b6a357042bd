import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { onDatabase } from "../../../support/postgres/databases.ts";
import { PostgresServer } from "../../../support/postgres/server.ts";
import { load } from "../../limit/child.ts";
import { hasRedis, startRedis } from "../../peers/redis.ts";
import { hasRestate } from "../../peers/restate.ts";
import type { Goal, Options, Row } from "../../runner/case.ts";
import { type Contestant, peer, type Running, restate } from "../../runner/contestants.ts";
import { programsOf, type Sample } from "../../runner/interleave.ts";
import { sampleLatency, stampedBody } from "../../runner/latency.ts";
import { runProgram } from "../../runner/program.ts";
import { withFolder } from "../../runner/server.ts";
import { svc } from "../../runner/svc-contestant.ts";

const queued = 10_000;
const perSecond = 20;
const loop = "batching loop over one child process";

/** Peers that are not installed are left out, and the note of each row says so. */
export async function run({ rounds, seconds }: Options): Promise<Row[]> {
  const { contestants, missing, close } = await contestantsHere();
  const drain = new Map<string, Sample[]>();
  const executed = new Map<string, Sample[]>();
  const start = new Map<string, Sample[]>();
  const add = (map: Map<string, Sample[]>, name: string, sample: Sample): void => {
    map.set(name, [...(map.get(name) ?? []), sample]);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      add(drain, loop, await batchingLoop());
      for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
        const { name } = contestant;
        const running = await contestant.start();
        try {
          await warmUp(running);
          if (running.drain !== null) add(drain, name, await running.drain(queued));
          add(executed, name, await throughput(running, seconds));
          const take = () => running.take(Math.round(perSecond * (seconds * 1.5 + 0.3)));
          const rate = { url: running.url, ratePerSecond: perSecond, seconds: seconds * 1.5 };
          add(start, name, await sampleLatency(rate, take));
        } finally {
          await running.stop();
        }
      }
    }
  } finally {
    await close();
  }
  const inOrder = (map: Map<string, Sample[]>) => {
    const names = [svc.name, loop, ...contestants.slice(1).map(({ name }) => name)];
    return programsOf(
      new Map(names.filter((name) => map.has(name)).map((name) => [name, map.get(name) ?? []])),
    );
  };
  const note = missing.length > 0 ? { note: missing.join("; ") } : {};
  return [
    {
      what: "drain of 10,000 waiting jobs",
      unit: "jobs/s",
      programs: inOrder(drain),
      goals: [
        { program: svc.name, of: "median", atLeast: 15_000 },
        { program: loop, of: "ratio", atLeast: 0.2 },
        ...contestants
          .filter(({ name }) => /^(BullMQ|pg-boss)/.test(name))
          .map(({ name }): Goal => ({ program: name, of: "ratio", atLeast: 1 })),
      ],
      ...note,
    },
    { what: "webhook to execution, at saturation", unit: "jobs/s", programs: inOrder(executed), ...note },
    {
      what: `trigger to start, at ${perSecond} per second`,
      unit: "ms at the median",
      programs: inOrder(start),
      ...note,
    },
  ];
}

/** Jobs per second of a program without a server: synced transactions of 500 jobs on SQLite, each sent to a child. */
async function batchingLoop(): Promise<number> {
  const { perSecond } = await withFolder((folder) =>
    runProgram<{ perSecond: number }>("node", "drain/loop.ts", [folder, String(queued)]),
  );
  return perSecond;
}

async function warmUp(running: Running): Promise<void> {
  await running.drain?.(2_000);
  await throughput(running, 0.3);
}

/** Executions per second from the start of a load with 64 connections until all have ended, and the latency of the 202. */
async function throughput({ url, take }: Running, seconds: number): Promise<Sample> {
  const options = { url, seconds, warmupSeconds: 0, body: stampedBody, bodyBytes: 60, headers: {} };
  const startedAt = performance.now();
  const { statuses, latencyMs } = await load({ ...options, digits: "time" });
  const count = statuses[202] ?? 0;
  const latencies = await take(count);
  assert.equal(latencies.length, count, "each accepted webhook must have been executed once");
  const value = count / ((performance.now() - startedAt) / 1000);
  return { value, p50Ms: latencyMs.p50, p99Ms: latencyMs.p99 };
}

interface Here {
  contestants: Contestant[];
  /** Sentences without a full stop. */
  missing: string[];
  close(): Promise<void>;
}

async function contestantsHere(): Promise<Here> {
  const contestants: Contestant[] = [svc];
  const installed = existsSync(new URL("../../peers/node_modules/fastify", import.meta.url));
  if (!installed) {
    const missing = ["the peers are not installed: `npm install --prefix test/bench/peers`"];
    return { contestants, missing, close: async () => {} };
  }
  const missing: string[] = [];
  const postgres = await PostgresServer.start({ shared_buffers: "256MB" });
  let databases = 0;
  const database = async (): Promise<string> => {
    const name = `peer_${++databases}`;
    await onDatabase(postgres.url(), `CREATE DATABASE ${name} TEMPLATE template0`);
    return postgres.url(name);
  };
  const redis = hasRedis() ? await startRedis() : null;
  if (redis === null) missing.push("without BullMQ, because there is no `redis-server` on the path");
  for (const where of ["in-process", "child"] as const) {
    const suffix = where === "child" ? ", child process" : ", in-process";
    if (redis !== null) contestants.push(peer(`BullMQ${suffix}`, "bullmq", where, async () => redis.empty()));
    contestants.push(peer(`pg-boss${suffix}`, "pg-boss", where, database));
    contestants.push(peer(`graphile-worker${suffix}`, "graphile", where, database));
  }
  if (hasRestate()) contestants.push(restate);
  else missing.push("without Restate, whose package has no program for this system");
  return {
    contestants,
    missing,
    async close() {
      await postgres.discard();
      await redis?.stop();
    },
  };
}
