/**
 * A peer behind fastify: `program.ts bullmq|graphile|pg-boss in-process|child <url of its store>` prints its URL. Every
 * POST is answered with 202 when its job is durable. `/control` takes `fill`, `work` and `stop` of the workers, and `take`, which
 * waits until the queue is drained and returns the executions since the last call.
 */
import { loadPeer } from "../queue/peer.ts";
import { openBullmq } from "./bullmq.ts";
import { openGraphile } from "./graphile.ts";
import { inChild, inProcess } from "./handler.ts";
import { openPgBoss } from "./pg-boss.ts";
import type { Payload } from "./queue.ts";

interface Fastify {
  post(path: string, handler: (request: { body: unknown }, reply: Reply) => Promise<unknown>): void;
  listen(options: object): Promise<string>;
}

interface Reply {
  code(status: number): Reply;
  send(body: object): Reply;
}

/** Executions since the last `take`. */
export interface Taken {
  latencies: number[];
  /** From the first start to the time at which all were recorded as completed. */
  tookMs: number;
}

const open = { bullmq: openBullmq, graphile: openGraphile, "pg-boss": openPgBoss };
const [kind = "", where = "", url = ""] = process.argv.slice(2);

const queue = await open[kind as keyof typeof open]();
await queue.open(url);
let latencies: number[] = [];
let firstMs = 0;
let stop: () => Promise<unknown> = async () => {};
const started = (ms: number): void => {
  if (latencies.push(ms) === 1) firstMs = performance.now();
};
const handler = where === "child" ? await inChild(started) : inProcess(started);

const { default: fastify } = await loadPeer<{ default: (options: object) => Fastify }>("fastify");
const app = fastify({ bodyLimit: 2 ** 24 });
app.post("/", async ({ body }, reply) => {
  await queue.add(body as Payload);
  return reply.code(202).send({ status: "queued" });
});
app.post("/control", async ({ body }) => {
  const { action, count = 0 } = body as { action: string; count?: number };
  if (action === "fill") {
    const t = String(Math.round((performance.timeOrigin + performance.now()) * 1000));
    await queue.fill(Array.from({ length: count }, () => ({ t, text: "x".repeat(120) })));
  }
  if (action === "work") stop = await queue.work(handler);
  if (action === "stop") await stop();
  return action === "take" ? take() : {};
});
console.log(`${await app.listen({ port: 0, host: "127.0.0.1" })}/`);
process.stdin.resume().on("end", () => process.exit());

async function take(): Promise<Taken> {
  while (!(await queue.isDrained())) await new Promise((resolve) => setTimeout(resolve, 2));
  const taken = { latencies, tookMs: performance.now() - firstMs };
  latencies = [];
  return taken;
}
