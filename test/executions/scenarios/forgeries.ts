/** Messages that violate the protocol. */
import type { Outcome } from "../../../server/executions/pool/index.ts";
import { poolScenario, type Scenario } from "../scenario.ts";

/** Each forgery, and the error that it causes. */
const forgeries: Record<string, RegExp> = {
  doneForOther: /sent a message for an unknown execution/,
  failForOther: /sent a message for an unknown execution/,
  runForOther: /sent a message for an unknown execution/,
  logForOther: /sent a message for an unknown execution/,
  runOutOfOrder: /called ctx\.run out of order/,
  respondForOther: /sent a message for an unknown execution/,
  respondTwice: /sent two responses of an execution/,
  respondCookie: /sent an invalid response/,
  respondLineEnd: /sent an invalid response/,
  respondShape: /must be a string/,
  spanForOther: /sent a message for an unknown execution/,
  spanShape: /sent a nested attribute/,
  manySpans: /more spans than an execution may make/,
  fieldsNotJson: /fields that are not a JSON object/,
  fieldsNotObject: /fields that are not a JSON object/,
  fieldsTooLong: /fields over the limit/,
  ready: /reported twice that it was ready/,
  loaded: /loaded a module that was not requested/,
  unknownType: /unknown type/,
  unknownKind: /unknown kind/,
  notJson: /not JSON/,
  notArray: /not an array/,
  notObject: /must be an object/,
  prototype: /unknown type/,
  wrongShape: /must be a string/,
  wrongReason: /not one of its enumeration/,
  outputNotJson: /output that is not JSON/,
  outputTooDeep: /output that is not JSON/,
  outputTooLong: /output over the limit/,
  largeOutputNotJson: /output that is not JSON/,
  largeOutputForOther: /sent a message for an unknown execution/,
  outputCutShort: /truncated output/,
  hugeHeader: /sent a frame of 4294967295 bytes, over the limit of \d+/,
  logLines: /more log lines than an execution may write/,
  // The runner may notice first, and end the process.
  close: /closed its channel|signal SIGKILL/,
};

export const forgeryScenarios: Scenario[] = [
  poolScenario(
    "a message that violates the protocol ends the runner",
    async (lab) => {
      const found: Record<string, Outcome> = {};
      const rest = Object.keys(forgeries);
      const work = async (): Promise<void> => {
        for (let forgery = rest.shift(); forgery !== undefined; forgery = rest.shift()) {
          // One deployment each: a single deployment may not start so many runners at once.
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

  poolScenario(
    "a forged outcome of an execution in another runner is rejected",
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

  poolScenario(
    "only the first outcome of an attempt counts",
    (lab) => lab.run("forge", { forgery: "doneTwice" }, { alone: true }),
    (outcome, expect) => expect(outcome).toEqual({ type: "succeeded", output: "1" }),
  ),

  ...["pongFlood", "strayFlood", "runFlood"].map((forgery) =>
    poolScenario(
      `a flood does not block the server: ${forgery}`,
      async (lab) => {
        await lab.run("outcome", { end: "nothing" }, { deploymentId: "dep_other" });
        const longestMs = watchTurns();
        const culprit = await lab.run("forge", { forgery }, { alone: true, timeoutMs: 5000 });
        const maxMs = longestMs();
        const other = await lab.run("outcome", { end: "nothing" }, { deploymentId: "dep_other" });
        return { culprit, other: other.type, maxMs, stray: lab.lines(null).length };
      },
      ({ other, maxMs, stray }, expect) => {
        expect(other).toBe("succeeded");
        expect(maxMs).toBeLessThan(300);
        expect(stray).toBeLessThanOrEqual(101);
      },
    ),
  ),
];

/**
 * Returns a function that ends the watch and returns the most processor time that one turn of the event loop used, in
 * milliseconds. Unlike the delay of timers it does not grow when other processes use the processors.
 */
function watchTurns(): () => number {
  let longest = 0;
  let before = usedMs();
  const timer = setInterval(() => {
    const now = usedMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, 5);
  return () => {
    clearInterval(timer);
    return Math.max(longest, usedMs() - before);
  };
}

function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
