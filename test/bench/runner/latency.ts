/** Milliseconds from the time at which a webhook was due to the first line of its handler. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestServer } from "../../support/server.ts";
import { load } from "../limit/child.ts";
import type { Sample } from "./interleave.ts";
import { openExecutions } from "./open-executions.ts";
import type { Agent } from "./server.ts";
import { quantile } from "./statistics.ts";

/** Returns the milliseconds since `t`, which is in microseconds since 1970. */
export const latencyAgent: Agent = {
  code: `export default async ({ t }) => ({ ms: performance.timeOrigin + performance.now() - Number(t) / 1000 });`,
  webhooks: [{ slug: "in" }],
};

/** The input of `latencyAgent`, for a load with `digits: "time"`. */
export const stampedBody = '{"t":"{n}"}';

export interface LatencyLoad {
  url: string;
  ratePerSecond: number;
  seconds: number;
}

/** Sends webhooks at a fixed rate after some that are not measured. @param take - waits for the executions and returns their latencies */
export async function sampleLatency(
  { url, ratePerSecond, seconds }: LatencyLoad,
  take: () => Promise<number[]>,
): Promise<Sample> {
  const warmupSeconds = 0.3;
  const options = {
    url,
    ratePerSecond,
    seconds,
    warmupSeconds,
    body: stampedBody,
    bodyBytes: 60,
    headers: {},
  };
  const { statuses } = await load({ ...options, digits: "time" });
  const latencies = await take();
  assert.equal(latencies.length, statuses[202], "each accepted webhook must have been executed");
  const measured = latencies.slice(Math.round(ratePerSecond * warmupSeconds));
  const p50Ms = quantile(measured, 0.5);
  return { value: p50Ms, p50Ms, p99Ms: quantile(measured, 0.99) };
}

/** Reads the latencies that `latencyAgent` has returned, in the order of the triggers. */
export class LatencyStore {
  readonly #db: DatabaseSync;
  #last = "";

  constructor(server: TestServer) {
    this.#db = new DatabaseSync(join(server.dataDir, "svc.db"), { readOnly: true });
  }

  /** Those of the executions since the last call. */
  readonly take = async (): Promise<number[]> => {
    const isOpen = openExecutions(this.#db);
    while (isOpen()) await new Promise((resolve) => setTimeout(resolve, 20));
    const select =
      "SELECT execution_id AS id, output FROM executions WHERE execution_id > ? ORDER BY execution_id";
    const rows = this.#db.prepare(select).all(this.#last) as { id: string; output: string }[];
    this.#last = rows.at(-1)?.id ?? this.#last;
    return rows.map(({ output }) => (JSON.parse(output) as { ms: number }).ms);
  };

  close(): void {
    this.#db.close();
  }
}
