/** Messages that no child sends. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Outcome } from "../../../server/executions/pool/index.ts";
import { type Scenario, scenario } from "../scenario.ts";

/** Each forgery and how the pool calls it. */
const forgeries: Record<string, RegExp> = {
  doneForOther: /spoke for an execution that it does not run/,
  failForOther: /spoke for an execution that it does not run/,
  runForOther: /spoke for an execution that it does not run/,
  logForOther: /spoke for an execution that it does not run/,
  runOutOfOrder: /called ctx\.run out of order/,
  ready: /said twice that it was ready/,
  loaded: /loaded what it was not asked to load/,
  unknownType: /no known type/,
  unknownKind: /no known kind/,
  notJson: /not JSON/,
  notArray: /no array/,
  notObject: /no object/,
  prototype: /no known type/,
  wrongShape: /no string/,
  wrongReason: /a word that does not exist/,
  outputNotJson: /output that is not JSON/,
  outputTooDeep: /output that is not JSON/,
  outputTooLong: /output over the limit/,
  largeOutputNotJson: /output that is not JSON/,
  largeOutputForOther: /spoke for an execution that it does not run/,
  outputCutShort: /cut short/,
  hugeHeader: /Cannot read a frame, which may have \d+ bytes: this one announces 4294967295/,
  logLines: /more log lines than an execution may write/,
  // Its own code may notice first, and end the process.
  close: /closed its channel|signal SIGKILL/,
};

export const forgeryScenarios: Scenario[] = [
  scenario(
    "what no child sends ends it",
    async (lab) => {
      const found: Record<string, Outcome> = {};
      const rest = Object.keys(forgeries);
      const work = async (): Promise<void> => {
        for (let forgery = rest.shift(); forgery !== undefined; forgery = rest.shift()) {
          // A deployment for each, since one alone may not start so many processes at once.
          const more = { alone: true, deploymentId: `dep_${forgery}`, timeoutMs: 5000 };
          found[forgery] = await lab.run("forge", { forgery }, more);
        }
      };
      await Promise.all([work(), work()]);
      return found;
    },
    (found, expect) => {
      for (const [forgery, message] of Object.entries(forgeries)) {
        const outcome = found[forgery];
        expect(outcome, forgery).toMatchObject({
          type: "failed",
          reason: "crash",
          error: { name: "CrashError" },
        });
        expect((outcome as { error: { message: string } }).error.message, forgery).toMatch(message);
      }
    },
  ),

  scenario(
    "a forged outcome of an execution in another process",
    async (lab) => {
      const victim = lab.run("gate", { gate: "victim" }, { alone: true });
      await lab.arrival("victim");
      const culprit = await lab.run("forge", { forgery: "doneForOther", other: "exe_1" });
      lab.open("victim");
      return { culprit: culprit.type, victim: await victim };
    },
    ({ culprit, victim }, expect) => {
      expect(culprit).toBe("failed");
      expect(victim.type).toBe("succeeded");
      expect(victim).not.toMatchObject({ output: '"forged"' });
    },
  ),

  scenario(
    "an outcome is given once",
    (lab) => lab.run("forge", { forgery: "doneTwice" }, { alone: true }),
    (outcome, expect) => expect(outcome).toEqual({ type: "succeeded", output: "1" }),
  ),

  ...["pongFlood", "strayFlood", "runFlood"].map((forgery) =>
    scenario(
      `a flood does not hold up the server: ${forgery}`,
      async (lab) => {
        await lab.run("outcome", { end: "nothing" }, { deploymentId: "dep_other" });
        const delay = monitorEventLoopDelay({ resolution: 5 });
        delay.enable();
        const culprit = await lab.run("forge", { forgery }, { alone: true, timeoutMs: 5000 });
        delay.disable();
        const other = await lab.run("outcome", { end: "nothing" }, { deploymentId: "dep_other" });
        return { culprit, other: other.type, maxMs: delay.max / 1e6, stray: lab.lines(null).length };
      },
      ({ other, maxMs, stray }, expect) => {
        expect(other).toBe("succeeded");
        expect(maxMs).toBeLessThan(300);
        expect(stray).toBeLessThanOrEqual(101);
      },
    ),
  ),
];
