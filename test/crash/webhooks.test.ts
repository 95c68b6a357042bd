/**
 * Kills the server under load: 50 rounds in `npm run test:crash`, 2 in `npm test`. Every acknowledged webhook has an
 * execution that ends exactly once, and an idempotency key has one execution.
 */

import { expect, test } from "vitest";
import { first } from "../../server/store/engine.ts";
import { deploy } from "../support/project.ts";
import { ended } from "../support/rest.ts";
import { fastRunners } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";
import { countEnds, query, violations } from "./ends.ts";
import { orphans } from "./processes.ts";
import { seeded } from "./random.ts";

const rounds = Number(process.env.CRASH_ROUNDS ?? 2);
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const senders = 8;
const server = useServer("node", {
  env: {
    ...(process.env.CRASH_ROUNDS === undefined && fastRunners),
    SVC_WEBHOOK_RATE: "1000000",
    SVC_WEBHOOK_BURST: "1000000",
    SVC_ORGANIZATION_RATE: "1000000",
    SVC_ORGANIZATION_BURST: "1000000",
  },
});

test(`${rounds} rounds of kill -9 under load lose and duplicate no execution (seed ${seed})`, {
  timeout: 120_000 + rounds * 30_000,
}, async () => {
  const random = seeded(seed);
  const deployment = await deploy(server, {
    agents: { echo: { code: "export default (input) => input;", webhooks: [{ slug: "in" }] } },
  });
  const url = new URL(deployment.webhooks[0]?.url ?? "");
  await countEnds(server);
  /** The execution of each idempotency key, according to the responses. */
  const byKey = new Map<string, string>();
  for (let round = 0; round < rounds; round++) {
    const target = `${server.url}${url.pathname}`;
    const killAfter = 20 + Math.floor(random() * 300);
    let answered = 0;
    let killed: Promise<unknown> | null = null;
    const send = async (sender: number): Promise<void> => {
      for (let n = 0; killed === null; n++) {
        // Two senders share each key, so that duplicates arrive concurrently.
        const key = `${round}-${sender >> 1}-${n}`;
        const answer = await post(target, key);
        if (answer === null) return;
        const first = byKey.get(key);
        if (first !== undefined) expect(answer, `key ${key}`).toBe(first);
        byKey.set(key, answer);
        if (++answered >= killAfter) killed ??= server.kill("SIGKILL");
      }
    };
    await Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
    await killed;
    await server.start();
  }
  const ids = new Set(byKey.values());
  expect(ids.size).toBe(byKey.size);
  for (const id of ids) {
    const { status, error } = await ended(server, id);
    expect({ id, status, error }).toEqual({ id, status: "succeeded", error: undefined });
  }
  expect(await violations(server)).toEqual({ doubles: [], revivals: [] });
  const count = (sql: string) => query(server, () => first<{ n: number; d: number }>(sql));
  const keys = await count("SELECT count(*) AS n, count(DISTINCT execution_id) AS d FROM idempotency");
  expect(keys?.n).toBe(keys?.d);
  const rows = await count("SELECT count(*) AS n FROM executions");
  // A round may leave one unacknowledged execution per pair of senders.
  expect(rows?.n).toBeLessThanOrEqual(ids.size + rounds * senders);
  await expect.poll(() => orphans(server.pid, server.dataDir), { timeout: 30_000 }).toEqual([]);
});

/** Null when the server was killed before it responded. */
async function post(url: string, key: string): Promise<string | null> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ key }),
    });
    const { execution_id } = (await response.json()) as { execution_id: string };
    expect(response.status).toBe(202);
    return execution_id;
  } catch (error) {
    if (error instanceof TypeError || (error as Error).name === "SyntaxError") return null;
    throw error;
  }
}
