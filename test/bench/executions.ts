/**
 * `npm run bench:executions [-- --seconds 10]`: a webhook's whole way, with rate limits on and set high.
 *
 * - latency: 50 webhooks per second to a warm agent; from the request's first byte to the agent's first line.
 * - throughput: as many webhooks as are accepted, a trivial agent run in its child process for each, its result stored;
 *   what ended per second against the accepts per second of the limit program, in turn.
 * - queue: accepted per second, and the latency of one agent, with a million executions of another waiting, against none.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { orderedId } from "../../server/ids.ts";
import { deploy } from "../support/project.ts";
import { TestServer } from "../support/server.ts";
import { load, startLimitProgram } from "./limit/child.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    pairs: { type: "string", default: "5" },
    queued: { type: "string", default: "1000000" },
    only: { type: "string", default: "latency,throughput,queue" },
  },
});
const seconds = Number(values.seconds);
const parts = new Set(values.only.split(","));
const env = {
  SVC_WEBHOOK_RATE: "10000000",
  SVC_WEBHOOK_BURST: "10000000",
  SVC_ORGANIZATION_RATE: "10000000",
  SVC_ORGANIZATION_BURST: "10000000",
};
const agent = new Agent({ keepAlive: true });
const agents = {
  now: {
    code: "export default () => ({ at: performance.timeOrigin + performance.now() });",
    webhooks: [{ slug: "in" }],
  },
};

if (parts.has("latency"))
  await withServer(async (_server, url) => report("latency", await latencies(url, 50)));
if (parts.has("throughput")) await throughput();
if (parts.has("queue")) await queue();

async function withServer(work: (server: TestServer, url: string) => Promise<void>): Promise<void> {
  const server = new TestServer("node", { env });
  await server.start();
  try {
    const deployment = await deploy(server, { agents });
    const url = deployment.webhooks[0]?.url ?? "";
    await latencies(url, 50, 1);
    await work(server, url);
  } finally {
    await server.discard(false);
  }
}

/** Milliseconds from sending a webhook to the agent's first line, at a fixed rate. */
async function latencies(url: string, ratePerSecond: number, forSeconds = seconds): Promise<number[]> {
  const found: Promise<number>[] = [];
  const gapMs = 1000 / ratePerSecond;
  const start = performance.now();
  for (let n = 0; n < ratePerSecond * forSeconds; n++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + n * gapMs - performance.now())));
    found.push(oneLatency(url));
  }
  return (await Promise.all(found)).sort((a, b) => a - b);
}

function oneLatency(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", prefer: "wait=30" };
    let sentAt = 0;
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve((JSON.parse(text) as { output: { at: number } }).output.at - sentAt));
    });
    sent.on("error", reject);
    sentAt = performance.timeOrigin + performance.now();
    sent.end('{"n":1}');
  });
}

function report(what: string, sorted: readonly number[]): void {
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(2);
  console.log(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(0.9999)} ms of ${sorted.length}`);
}

async function throughput(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-limit-"));
  const limit = await startLimitProgram(folder);
  const ratios: number[] = [];
  try {
    await withServer(async (server, url) => {
      for (let pair = 0; pair < Number(values.pairs); pair++) {
        const db = new DatabaseSync(join(server.dataDir, "svc.db"), { readOnly: true });
        const ended = () =>
          Number(db.prepare("SELECT count(*) AS n FROM executions WHERE finished_at IS NOT NULL").get()?.n);
        const waiting = () =>
          Number(db.prepare("SELECT count(*) AS n FROM executions WHERE finished_at IS NULL").get()?.n);
        const before = ended();
        const startedAt = performance.now();
        const { answers } = await load({ url, bodyBytes: 150, seconds, connections: 16, headers: {} });
        const backlog = waiting();
        const perSecond = (ended() - before) / ((performance.now() - startedAt) / 1000);
        while (waiting() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
        const drained = (ended() - before) / ((performance.now() - startedAt) / 1000);
        db.close();
        const bare = (await load({ url: limit.url, bodyBytes: 150, seconds, headers: {} })).perSecond;
        ratios.push(drained / bare);
        console.log(
          `throughput: ${Math.round(answers / seconds)} accepted/s, ${Math.round(perSecond)} ended/s, backlog ${backlog}, ${Math.round(drained)} ended/s until drained; limit program ${Math.round(bare)}/s; ratio ${(drained / bare).toFixed(2)}`,
        );
      }
    });
  } finally {
    await limit.stop();
    rmSync(folder, { recursive: true });
  }
  ratios.sort((a, b) => a - b);
  console.log(
    `throughput: median ratio ${ratios[ratios.length >> 1]?.toFixed(2)} (${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)})`,
  );
}

async function queue(): Promise<void> {
  await withServer(async (server, url) => {
    report("queue empty, latency", await latencies(url, 50));
    const empty = await load({ url, bodyBytes: 150, seconds, ratePerSecond: 1000, headers: {} });
    console.log(`queue empty, at 1000/s: ${JSON.stringify(empty.latencyMs)} ms`);
    fill(server, Number(values.queued));
    report(`queue of ${values.queued}, latency`, await latencies(url, 50));
    const full = await load({ url, bodyBytes: 150, seconds, ratePerSecond: 1000, headers: {} });
    console.log(`queue of ${values.queued}, at 1000/s: ${JSON.stringify(full.latencyMs)} ms`);
  });
}

/** Executions that wait for a time to come, of the same deployment. */
function fill(server: TestServer, count: number): void {
  const db = new DatabaseSync(join(server.dataDir, "svc.db"));
  db.exec("PRAGMA busy_timeout = 10000");
  const from = db.prepare("SELECT * FROM executions LIMIT 1").get() ?? {};
  const insert = db.prepare(
    `INSERT INTO executions (org_id, execution_id, status, kind, name, origin, deployment_id, environment, input, due_at,
     created_at) VALUES (?, ?, 'queued', ?, ?, 'webhook', ?, ?, '{}', ?, ?)`,
  );
  const dueAt = Date.now() + 3_600_000;
  for (let n = 0; n < count; n++) {
    if (n % 10_000 === 0) db.exec(n === 0 ? "BEGIN" : "COMMIT; BEGIN");
    const { org_id = "", kind = "", name = "", deployment_id = "", environment = "" } = from;
    insert.run(org_id, orderedId("exe"), kind, name, deployment_id, environment, dueAt, Date.now());
  }
  db.exec("COMMIT");
  db.close();
}
