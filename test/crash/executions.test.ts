/**
 * `npm run test:crash` runs this for 100 rounds of 1,000 executions, `npm test` for 2 of 60: the server, a child process or
 * both are killed at random while executions run. All end, none is lost, none ends twice, and no completed child of a
 * workflow runs again.
 */
import { expect, test } from "vitest";
import { deploy } from "../support/project.ts";
import { ended, run } from "../support/rest.ts";
import { useServer } from "../support/suite.ts";
import { countEnds, open, violations } from "./ends.ts";
import { descendants, orphans } from "./processes.ts";
import { seeded } from "./random.ts";

const long = process.env.CRASH_ROUNDS !== undefined;
const rounds = long ? Number(process.env.CRASH_ROUNDS) * 2 : 2;
const perRound = long ? 1_000 : 60;
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
/** A workflow and its two children are three executions. */
const workflowShare = 0.2;
const server = useServer("node");

test(`${rounds} rounds of killing the server, a child or both lose and double nothing (seed ${seed})`, {
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
  countEnds(server.dataDir);
  for (let round = 0; round < rounds; round++) {
    const workflows = Math.floor(perRound * workflowShare);
    const names = Array.from({ length: perRound - 2 * workflows }, (_, n) =>
      n < workflows ? "pair" : "echo",
    );
    const ids: string[] = [];
    const killAt = Math.floor(random() * names.length);
    const what = ["server", "child", "both"][Math.floor(random() * 3)];
    for (const [n, name] of names.entries()) {
      ids.push((await run(server, name, { n })).execution_id);
      if (n !== killAt) continue;
      if (what !== "server") killAChild(server.pid, random);
      if (what !== "child") await server.restart("SIGKILL");
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
  expect(violations(server.dataDir)).toEqual({ doubles: [], revivals: [] });
  const db = open(server.dataDir);
  const unfinished = db.prepare("SELECT count(*) AS n FROM executions WHERE finished_at IS NULL").get();
  expect(unfinished?.n).toBe(0);
  const children = db
    .prepare("SELECT parent_execution_id AS p, count(*) AS n FROM executions GROUP BY p HAVING p IS NOT NULL")
    .all();
  for (const { n } of children) expect(n).toBe(2);
  db.close();
  await expect.poll(() => orphans(server.pid, server.dataDir), { timeout: 10_000 }).toEqual([]);
});

/** One of the processes below the server: one that runs users' code, or on Node the one that starts these. */
function killAChild(serverPid: number, random: () => number): void {
  const below = descendants(serverPid);
  const chosen = below[Math.floor(random() * below.length)];
  if (chosen !== undefined) process.kill(chosen, "SIGKILL");
}
