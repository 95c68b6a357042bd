/** The server of each part of this benchmark, with rate limits on and set high. */
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deploy, type ProjectSource } from "../../support/project.ts";
import { ok } from "../../support/rest.ts";
import type { Runtime } from "../../support/runtimes.ts";
import { TestServer } from "../../support/server.ts";

const env = {
  SVC_WEBHOOK_RATE: "10000000",
  SVC_WEBHOOK_BURST: "10000000",
  SVC_ORGANIZATION_RATE: "10000000",
  SVC_ORGANIZATION_BURST: "10000000",
};
const agent = new Agent({ keepAlive: true });

/** Returns the time at which its first line ran. */
const now: ProjectSource["agents"] = {
  now: {
    code: "export default () => ({ at: performance.timeOrigin + performance.now() });",
    webhooks: [{ slug: "in" }],
  },
};

/**
 * @param work - gets the URL of a webhook of a warm agent
 * @param secrets - number of secrets of the organization, whose values are redacted in logs and outputs
 */
export async function withServer(
  runtime: Runtime,
  work: (server: TestServer, url: string) => Promise<void>,
  secrets = 0,
): Promise<void> {
  const server = new TestServer(runtime, { env });
  await server.start();
  try {
    for (let n = 0; n < secrets; n++) {
      await ok(server, "PUT", `/api/v1/secrets/SECRET_${n}`, { json: { value: randomUUID() } });
    }
    const deployment = await deploy(server, { agents: now });
    const url = deployment.webhooks[0]?.url ?? "";
    await latencies(url, 50, 1);
    await work(server, url);
  } finally {
    await server.discard(false);
  }
}

/** Milliseconds from sending a webhook to the agent's first line, at a fixed rate, in ascending order. */
export async function latencies(url: string, ratePerSecond: number, seconds: number): Promise<number[]> {
  const found: Promise<number>[] = [];
  const gapMs = 1000 / ratePerSecond;
  const start = performance.now();
  for (let n = 0; n < ratePerSecond * seconds; n++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + n * gapMs - performance.now())));
    found.push(latency(url));
  }
  return (await Promise.all(found)).sort((a, b) => a - b);
}

function latency(url: string): Promise<number> {
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

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}

export function report(what: string, sorted: readonly number[]): void {
  const at = (share: number) => percentile(sorted, share).toFixed(2);
  console.log(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(0.9999)} ms of ${sorted.length}`);
}

/** Counts finished and unfinished executions in the server's database. */
export class Counter {
  readonly #db: DatabaseSync;

  constructor(server: TestServer) {
    this.#db = new DatabaseSync(join(server.dataDir, "svc.db"), { readOnly: true });
  }

  get ended(): number {
    return this.#count("finished_at IS NOT NULL");
  }

  get waiting(): number {
    return this.#count("finished_at IS NULL");
  }

  async untilDrained(): Promise<void> {
    while (this.waiting > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  close(): void {
    this.#db.close();
  }

  #count(condition: string): number {
    return Number(this.#db.prepare(`SELECT count(*) AS n FROM executions WHERE ${condition}`).get()?.n);
  }
}
