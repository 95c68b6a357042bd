/** Timeouts, cancellation and blocked event loops. */
import { poolScenario, type Scenario, scenario } from "../scenario.ts";

const timeout = { type: "failed", reason: "timeout", final: false };

export const time: Scenario[] = [
  scenario(
    "a timeout aborts the signal, and an attempt that stops then does not affect its runner",
    async (lab) => {
      const neighbour = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const timedOut = [
        await lab.run("outcome", { end: "obey" }, { timeoutMs: 50 }),
        await lab.run("outcome", { end: "obeyThenSucceed" }, { timeoutMs: 50 }),
      ];
      lab.open("a");
      return { timedOut, neighbour: await neighbour, later: await lab.run("outcome", { end: "pid" }) };
    },
    ({ timedOut, neighbour, later }, expect) => {
      expect(timedOut).toMatchObject([timeout, timeout]);
      expect(timedOut[0]).toMatchObject({
        error: { name: "TimeoutError", message: "The agent 'outcome' did not finish within 0.05 s" },
      });
      expect(neighbour).toMatchObject({ type: "succeeded" });
      expect(later).toEqual(neighbour);
    },
  ),

  poolScenario(
    "a runner is killed when an attempt ignores the signal, and its other attempts are handed back",
    async (lab) => {
      const neighbour = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      return Promise.all([lab.run("outcome", { end: "hang" }, { timeoutMs: 50 }), neighbour]);
    },
    ([culprit, neighbour], expect) => {
      expect(culprit).toMatchObject(timeout);
      expect(neighbour).toMatchObject({ type: "lost", suspect: false });
    },
    { killGraceMs: 300 },
  ),

  poolScenario(
    "a runner with an aborted attempt gets no more attempts",
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

  poolScenario(
    "cancels a running attempt",
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

  poolScenario(
    "a queued attempt is cancelled immediately",
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

  poolScenario(
    "an endless loop without other attempts runs until its timeout",
    (lab) => lab.run("outcome", { end: "spin" }, { alone: true, timeoutMs: 2500 }),
    (outcome, expect) => expect(outcome).toMatchObject(timeout),
    { killGraceMs: 300 },
  ),

  scenario(
    "a runner is killed when its event loop is blocked for longer than the limit",
    async (lab) => {
      const neighbour = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      return Promise.all([lab.run("outcome", { end: "spin" }), neighbour]);
    },
    (outcomes, expect) => {
      const lost = {
        type: "lost",
        suspect: true,
        reason: "The runner's event loop was blocked for 1.5 s",
      };
      expect(outcomes).toEqual([lost, lost]);
    },
  ),

  poolScenario(
    "a deployment whose runner crashed starts at most two runners for a while",
    async (lab) => {
      const before = lab.pools.free(lab.deploymentId);
      await lab.run("outcome", { end: "abort" }, { alone: true });
      const after = lab.pools.free(lab.deploymentId);
      const other = lab.pools.free("dep_other");
      const hanging = [await lab.lifeline("hang"), await lab.lifeline("hang")];
      const full = lab.pools.free(lab.deploymentId);
      for (const id of ["exe_2", "exe_3"]) lab.pools.cancel(id);
      await Promise.all(hanging.map(({ outcome }) => outcome));
      return { before, after, other, full };
    },
    (found, expect) => expect(found).toEqual({ before: 4, after: 2, other: 4, full: 0 }),
    { executionsPerRunner: 1, runnersPerDeployment: 4, killGraceMs: 300 },
  ),

  poolScenario(
    "a deployment whose runner blocks its event loop starts at most two runners",
    async (lab) => {
      const spinning = await lab.lifeline("spin", { timeoutMs: 4000 });
      // The server notices at its next ping.
      while (lab.pools.free(lab.deploymentId) > 1) await new Promise((resolve) => setTimeout(resolve, 20));
      const hanging = await lab.lifeline("hang");
      const free = lab.pools.free(lab.deploymentId);
      for (const id of ["exe_1", "exe_2"]) lab.pools.cancel(id);
      await Promise.all([spinning.outcome, hanging.outcome]);
      return free;
    },
    (free, expect) => expect(free).toBe(0),
    { executionsPerRunner: 1, runnersPerDeployment: 4, killGraceMs: 300, blockedMs: 10_000 },
  ),

  poolScenario(
    "attempts go to another runner while one is blocked",
    async (lab) => {
      const { outcome, pid } = await lab.lifeline("spin", { timeoutMs: 2000 });
      // Until the next ping the pool may assign one more attempt to the blocked runner.
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

  poolScenario(
    "an endless loop that an earlier attempt left behind makes the next attempt a suspect",
    async (lab) => {
      const { outcome, spin } = await lab.lifeline("spinLater");
      const first = await outcome;
      await spin();
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

  poolScenario(
    "an idle runner ends",
    async (lab) => {
      const { outcome, ended } = await lab.lifeline("return");
      await outcome;
      await ended;
      return lab.run("outcome", { end: "nothing" });
    },
    (outcome, expect) => expect(outcome.type).toBe("succeeded"),
    { idleMs: 100 },
  ),

  poolScenario(
    "retire ends a runner when its attempts have finished",
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

  poolScenario(
    "close waits for running attempts within the grace period",
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

  poolScenario(
    "close hands back unfinished and queued attempts",
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

  poolScenario(
    "attempts are handed back when no runner can be started",
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
