/** One measurement of one contestant, in a process of its own: `contest.ts <name> <url> <jobs> <latency jobs>`. */
import type { Contestant } from "./contestant.ts";

const contestants: Record<string, () => Promise<Contestant>> = {
  svc: async () => new (await import("./svc.ts")).Svc(),
  graphile: async () => new (await import("./graphile.ts")).Graphile(),
  "pg-boss": async () => new (await import("./pg-boss.ts")).PgBoss(),
};

export interface Measurement {
  /** Jobs per second. */
  enqueue: number;
  drain: number;
  /** Enqueue and drain, one after the other. */
  cycle: number;
  /** Enqueue to start of the handler, in milliseconds. */
  p50: number;
  p99: number;
  /** Processor time of this process per job of the cycle, in microseconds. */
  cpuPerJob: number;
}

const [name = "", url = "", jobs = "20000", latencyJobs = "200"] = process.argv.slice(2);
const count = Number(jobs);
const contestant = await contestants[name]?.();
if (contestant === undefined) throw new Error(`There is no contestant '${name}'.`);

const started = new Map<number, number>();
await contestant.open(url, (job) => {
  if (started.has(job)) throw new Error(`Job ${job} started twice.`);
  started.set(job, performance.now());
});
await contestant.enqueue(0, 500);
const cpu = process.cpuUsage();
const enqueueAt = performance.now();
await contestant.enqueue(500, count - 500);
const drainAt = performance.now();
await contestant.startWorkers();
await contestant.drained(count);
const end = performance.now();
const { user, system } = process.cpuUsage(cpu);
if (started.size !== count) throw new Error(`${started.size} of ${count} jobs were started.`);

const latencies: number[] = [];
const total = Number(latencyJobs);
for (let job = count; job < count + total; job++) {
  const at = performance.now();
  await contestant.enqueueOne(job);
  await new Promise((resolve) => setTimeout(resolve, 20));
  while (!started.has(job)) await new Promise((resolve) => setTimeout(resolve, 5));
  latencies.push((started.get(job) ?? 0) - at);
}
await contestant.close();
latencies.sort((a, b) => a - b);
const measurement: Measurement = {
  enqueue: ((count - 500) / (drainAt - enqueueAt)) * 1000,
  drain: (count / (end - drainAt)) * 1000,
  cycle: (count / (end - enqueueAt)) * 1000,
  p50: latencies[Math.floor(total * 0.5)] ?? Number.NaN,
  p99: latencies[Math.floor(total * 0.99)] ?? Number.NaN,
  cpuPerJob: (user + system) / count,
};
console.log(JSON.stringify(measurement));
process.exit(0);
