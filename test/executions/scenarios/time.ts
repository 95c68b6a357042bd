/** Timeouts, cancellation, and event loops that stand still. */
import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { setTimeout } from "node:timers/promises";
import { type Scenario, scenario } from "../scenario.ts";

const timeout = { type: "failed", reason: "timeout", final: false };

/** Elsewhere nobody tells how much processor time another process has used. */
const yielding: Scenario[] = [
  scenario(
    "processes of a deployment yield to others once one of them holds a processor",
    async (lab) => {
      const innocent = await lab.lifeline("hang");
      const before = niceOf(innocent.pid);
      const spinning = await lab.lifeline("spin", { timeoutMs: 10_000 });
      const yields = await until(() => niceOf(spinning.pid) === "10 10", spinning.outcome);
      return { before, yields, beside: niceOf(innocent.pid) };
    },
    ({ before, yields, beside }, expect) => {
      expect({ before, yields, beside }).toEqual({ before: "0 0", yields: true, beside: "10 10" });
    },
    { executionsPerRunner: 1, killGraceMs: 300, blockedMs: 10_000 },
  ),

  scenario(
    "the process that follows a crash yields from its start",
    async (lab) => {
      await lab.run("outcome", { end: "abort" });
      const next = await lab.lifeline("hang");
      return niceOf(next.pid);
    },
    (nice, expect) => expect(nice).toBe("10 10"),
  ),
];

export const time: Scenario[] = [
  scenario(
    "a timeout aborts the signal, and whoever obeys costs nobody anything",
    async (lab) => {
      const beside = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const timedOut = [
        await lab.run("outcome", { end: "obey" }, { timeoutMs: 50 }),
        await lab.run("outcome", { end: "obeyThenSucceed" }, { timeoutMs: 50 }),
      ];
      lab.open("a");
      return { timedOut, beside: await beside, later: await lab.run("outcome", { end: "pid" }) };
    },
    ({ timedOut, beside, later }, expect) => {
      expect(timedOut).toMatchObject([timeout, timeout]);
      expect(timedOut[0]).toMatchObject({
        error: { name: "TimeoutError", message: "The agent 'outcome' did not end within 0.05 s" },
      });
      expect(beside).toMatchObject({ type: "succeeded" });
      expect(later).toEqual(beside);
    },
  ),

  scenario(
    "whoever ignores the signal is ended after the grace, and those beside are handed back",
    async (lab) => {
      const beside = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      return Promise.all([lab.run("outcome", { end: "hang" }, { timeoutMs: 50 }), beside]);
    },
    ([culprit, beside], expect) => {
      expect(culprit).toMatchObject(timeout);
      expect(beside).toMatchObject({ type: "lost", suspect: false });
    },
    { killGraceMs: 300 },
  ),

  scenario(
    "no further job goes to a process that may be ended",
    async (lab) => {
      const hanging = lab.lifeline("hang");
      const { outcome, pid } = await hanging;
      lab.pools.cancel("exe_1");
      const later = await lab.run("outcome", { end: "pid" });
      return { pid, later, outcome: await outcome };
    },
    ({ pid, later, outcome }, expect) => {
      expect(later.type).toBe("succeeded");
      expect(later).not.toMatchObject({ output: String(pid) });
      expect(outcome).toEqual({ type: "cancelled" });
    },
    { killGraceMs: 300 },
  ),

  scenario(
    "cancel",
    async (lab) => {
      const obeying = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const known = lab.pools.cancel("exe_1");
      const twice = lab.pools.cancel("exe_1");
      const unknown = lab.pools.cancel("exe_none");
      const outcome = await obeying;
      return { known, twice, unknown, outcome, afterwards: lab.pools.cancel("exe_1") };
    },
    (found, expect) =>
      expect(found).toEqual({
        known: true,
        twice: true,
        unknown: false,
        outcome: { type: "cancelled" },
        afterwards: false,
      }),
  ),

  scenario(
    "what waits for a slot is cancelled at once",
    async (lab) => {
      const { outcome: holder } = await lab.lifeline("hang");
      const waiting = lab.run("outcome", { end: "pid" });
      const free = lab.pools.free(lab.deploymentId);
      const known = lab.pools.cancel("exe_2");
      const outcome = await waiting;
      lab.pools.cancel("exe_1");
      return { free, known, outcome, holder: await holder };
    },
    ({ free, known, outcome, holder }, expect) => {
      expect(free).toBe(0);
      expect(known).toBe(true);
      expect([outcome, holder]).toEqual([{ type: "cancelled" }, { type: "cancelled" }]);
    },
    { executionsPerRunner: 1, runnersPerDeployment: 1, killGraceMs: 300 },
  ),

  scenario(
    "an endless loop alone lives until its timeout",
    (lab) => lab.run("outcome", { end: "spin" }, { alone: true, timeoutMs: 2500 }),
    (outcome, expect) => expect(outcome).toMatchObject(timeout),
    { killGraceMs: 300 },
  ),

  scenario(
    "an endless loop does not hold up those beside it for longer than the limit",
    async (lab) => {
      const beside = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      return Promise.all([lab.run("outcome", { end: "spin" }), beside]);
    },
    (outcomes, expect) => {
      const lost = {
        type: "lost",
        suspect: true,
        reason: "The event loop of its process stood still for 1.5 s",
      };
      expect(outcomes).toEqual([lost, lost]);
    },
  ),

  ...(process.platform === "linux" ? yielding : []),

  scenario(
    "while a loop spins, others are given to another process",
    async (lab) => {
      const { outcome, pid } = await lab.lifeline("spin", { timeoutMs: 2000 });
      // The pool learns by its next look that the loop spins; until then it may give it one more.
      const others: unknown[] = [];
      for (let i = 0; i < 3; i++) others.push(await lab.run("outcome", { end: "pid" }));
      return { pid, others, outcome: await outcome };
    },
    ({ pid, others, outcome }, expect) => {
      const elsewhere = others.filter((other) => {
        const { type, output } = other as { type: string; output?: string };
        return type === "succeeded" && output !== String(pid);
      });
      expect(elsewhere.length).toBeGreaterThanOrEqual(2);
      expect(["lost", "failed"]).toContain(outcome.type);
    },
  ),

  scenario(
    "a loop that an execution left behind is not the next one's fault",
    async (lab) => {
      const { outcome, spoke } = await lab.lifeline("spinLater");
      const first = await outcome;
      await spoke;
      const second = await lab.run("outcome", { end: "pid" });
      const third = await lab.run("outcome", { end: "pid" });
      return { first, second, third };
    },
    ({ first, second, third }, expect) => {
      expect(first).toEqual({ type: "succeeded", output: '"returned"' });
      expect(second).toMatchObject({ type: "lost", suspect: true });
      expect(third.type).toBe("succeeded");
    },
  ),

  scenario(
    "an idle process ends",
    async (lab) => {
      const { outcome, ended } = await lab.lifeline("return");
      await outcome;
      await ended;
      return lab.run("outcome", { end: "nothing" });
    },
    (outcome, expect) => expect(outcome.type).toBe("succeeded"),
    { idleMs: 100 },
  ),

  scenario(
    "retire lets what runs finish and ends the process then",
    async (lab) => {
      const { outcome, ended } = await lab.lifeline("return");
      const gated = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const before = lab.pools.free(lab.deploymentId);
      lab.pools.retire(lab.deploymentId);
      const retired = lab.pools.free(lab.deploymentId);
      lab.open("a");
      const outcomes = [await outcome, await gated];
      await ended;
      const late = await lab.run("outcome", { end: "nothing" });
      const still = lab.pools.free(lab.deploymentId);
      await lab.pools.warm(lab.deploymentId);
      return { before, retired, outcomes, late, still, warm: lab.pools.free(lab.deploymentId) };
    },
    ({ before, retired, outcomes, late, still, warm }, expect) => {
      expect(before).toBeGreaterThan(0);
      expect(retired).toBe(0);
      expect(outcomes).toMatchObject([{ type: "succeeded" }, { type: "succeeded" }]);
      expect(late.type).toBe("succeeded");
      expect(still).toBe(0);
      expect(warm).toBeGreaterThan(0);
    },
  ),

  scenario(
    "closing lets what runs finish within the grace",
    async (lab) => {
      const gated = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const closed = lab.pools.close(30_000);
      lab.open("a");
      const outcome = await gated;
      await closed;
      return { outcome, late: await lab.run("outcome", { end: "nothing" }) };
    },
    ({ outcome, late }, expect) => {
      expect(outcome.type).toBe("succeeded");
      expect(late).toMatchObject({ type: "lost", suspect: false });
    },
  ),

  scenario(
    "closing hands back what does not finish, and what waits",
    async (lab) => {
      const { outcome, ended } = await lab.lifeline("hang");
      const waiting = lab.run("outcome", { end: "nothing" });
      await lab.pools.close(50);
      await ended;
      return Promise.all([outcome, waiting]);
    },
    (outcomes, expect) => {
      const lost = { type: "lost", suspect: false, reason: "The server is closing" };
      expect(outcomes).toEqual([lost, lost]);
    },
    { executionsPerRunner: 1, runnersPerDeployment: 1 },
  ),

  scenario(
    "a process that cannot be started hands back what waits for it",
    async (lab) => {
      const { rmSync } = await import("node:fs");
      rmSync(lab.package, { recursive: true });
      lab.write("../package", "no folder");
      return lab.run("outcome", { end: "nothing" });
    },
    (outcome, expect) => {
      expect(outcome).toMatchObject({ type: "lost", suspect: false });
      expect((outcome as { reason: string }).reason).toMatch(/could not be started/);
    },
  ),
];

/** The nice values of a process's session, where the kernel has such groups, and of itself. */
function niceOf(pid: number): string {
  const own = getPriority(pid);
  const file = `/proc/${pid}/autogroup`;
  const session = existsSync(file) ? /nice (-?\d+)/.exec(readFileSync(file, "utf8"))?.[1] : own;
  return `${session} ${own}`;
}

/** Whether it comes to hold before something else has happened. */
async function until(holds: () => boolean, before: Promise<unknown>): Promise<boolean> {
  let over = false;
  void before.finally(() => {
    over = true;
  });
  while (!over) {
    if (holds()) return true;
    await setTimeout(20);
  }
  return false;
}
