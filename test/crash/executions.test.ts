/**
 * Kills the server, a runner or both at random while executions run: 100 rounds of 1,000 executions in
 * `npm run test:crash`, 2 of 60 in `npm test`. Every execution ends exactly once, and no completed child execution of a
 * workflow runs again.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { all } from "../../server/store/engine.ts";
import { deploy } from "../support/project.ts";
import { ended, run } from "../support/rest.ts";
import { fastRunners } from "../support/runtimes.ts";
import { useServer } from "../support/suite.ts";
import { countEnds, query, violations } from "./ends.ts";
import { descendants, orphans } from "./processes.ts";
import { seeded } from "./random.ts";

const long = process.env.CRASH_ROUNDS !== undefined;
const rounds = long ? Number(process.env.CRASH_ROUNDS) * 2 : 2;
const perRound = long ? 1_000 : 60;
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
/** A workflow and its two child executions are three executions. */
const workflowShare = 0.2;
const server = useServer("node", { env: long ? {} : fastRunners });

test(`${rounds} rounds of kill -9 of the server, a runner or both lose and duplicate no execution (seed ${seed})`, {
  timeout: 60_000 + rounds * 60_000,
}, async () => {
  const random = seeded(seed);
  await deploy(server, {
    agents: {
      echo: "export default async (input) => { console.log('ran', input.n); return input; };",
    },
    workflows: {
      pair: `export default async (input, ctx) => {
  const one = await ctx.run("echo", { n: input.n }, { key: "one" });
  const two = await ctx.run("echo", { n: one.n + 1 }, { key: "two" });
  return { one, two };
};`,
    },
  });
  await countEnds(server);
  for (let round = 0; round < rounds; round++) {
    const workflows = Math.floor(perRound * workflowShare);
    const names = Array.from({ length: perRound - 2 * workflows }, (_, n) =>
      n < workflows ? "pair" : "echo",
    );
    const ids: string[] = [];
    const killAt = Math.floor(random() * names.length);
    const what = ["server", "runner", "both"][Math.floor(random() * 3)];
    for (const [n, name] of names.entries()) {
      ids.push((await run(server, name, { n })).execution_id);
      if (n !== killAt) continue;
      if (what !== "server") killRunner(server.pid, random);
      if (what !== "runner") await server.restart("SIGKILL");
    }
    for (const [n, id] of ids.entries()) {
      const execution = await ended(server, id);
      expect(execution.status, `${id} of round ${round}: ${JSON.stringify(execution.error)}`).toBe(
        "succeeded",
      );
      const own = { n };
      expect(execution.output).toEqual(names[n] === "pair" ? { one: own, two: { n: n + 1 } } : own);
    }
  }
  expect(await violations(server)).toEqual({ doubles: [], revivals: [] });
  const count = (sql: string) => query(server, () => all<{ n: number }>(sql));
  expect(await count("SELECT count(*) AS n FROM executions WHERE finished_at IS NULL")).toEqual([{ n: 0 }]);
  const children = await count(
    `SELECT parent_execution_id, count(*) AS n FROM executions WHERE parent_execution_id IS NOT NULL
GROUP BY parent_execution_id`,
  );
  for (const { n } of children) expect(n).toBe(2);
  await expect.poll(() => orphans(server.pid, server.dataDir), { timeout: 30_000 }).toEqual([]);
});

/** `npm test` kills more often than the losses after which an execution is given up. */
const kills = long ? 30 : 7;

test(`${kills} kills of the server, each right after an accepted execution, lose no execution`, {
  timeout: 120_000 + kills * 10_000,
}, async () => {
  // The executions run until the last kill.
  const waiting: ServerResponse[] = [];
  let open = false;
  const gate = createServer((_, response) => {
    if (open) response.end();
    else waiting.push(response);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    gate.closeAllConnections();
    gate.close();
  });
  await deploy(server, {
    name: "gated",
    agents: { gated: "export default async ({ url, n }) => { await (await fetch(url)).text(); return n; };" },
  });
  const url = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  const ids: string[] = [];
  for (let n = 0; n < kills; n++) {
    ids.push((await run(server, "gated", { url, n })).execution_id);
    await server.restart("SIGKILL");
  }
  open = true;
  for (const response of waiting) response.end();
  for (const [n, id] of ids.entries()) {
    const { status, output, error, attempt } = await ended(server, id);
    expect({ status, output, error, attempt }).toEqual({ status: "succeeded", output: n, attempt: 1 });
  }
});

/** Kills one of the server's runners. */
function killRunner(serverPid: number, random: () => number): void {
  const runners = descendants(serverPid);
  const chosen = runners[Math.floor(random() * runners.length)];
  if (chosen !== undefined) process.kill(chosen, "SIGKILL");
}
