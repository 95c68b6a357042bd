import { describe, expect, test } from "vitest";
import type { RetryPolicy } from "../../../project/definition.ts";
import type { Outcome } from "../../../server/executions/pool/contract.ts";
import { retryDelayMs } from "../../../server/executions/retry.ts";
import {
  afterAttempt,
  afterLoss,
  delayAfterLossMs,
  isEnd,
  maxRunnerLosses,
  type RunningState,
  type Transition,
} from "../../../server/executions/states.ts";
import { isId, type OrderedPrefix, orderedId, randomId } from "../../../server/ids.ts";
import fc from "../../support/property.ts";

const policy: fc.Arbitrary<RetryPolicy> = fc.record({
  maxRetries: fc.integer({ min: 0, max: 10 }),
  strategy: fc.constantFrom("exponential", "fixed"),
  initialDelaySeconds: fc.double({ min: 0, max: 1000, noNaN: true }),
  maxDelaySeconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
});

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ type: fc.constant("succeeded"), output: fc.json() }),
  fc.record({
    type: fc.constant("failed"),
    error: fc.record({ name: fc.string(), message: fc.string(), stack: fc.string() }),
    final: fc.boolean(),
    reason: fc.constantFrom("thrown", "timeout", "exit", "crash", "memory", "output", "load"),
  }),
  fc.record({ type: fc.constant("cancelled") }),
  fc.record({ type: fc.constant("lost"), reason: fc.string(), suspect: fc.boolean() }),
);

const state: fc.Arbitrary<RunningState> = fc.record({
  attempt: fc.integer({ min: 1, max: 12 }),
  losses: fc.nat({ max: 100 }),
  runnerLosses: fc.integer({ min: 0, max: maxRunnerLosses - 1 }),
  cancelRequested: fc.boolean(),
  retry: fc.option(policy),
});

const now = fc.integer({ min: 0, max: 4e12 });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("the states of an execution", () => {
  test("follow from the outcome", () => {
    fc.assert(
      fc.property(state, outcome, now, chance, (before, what, nowMs, random) => {
        const next = afterAttempt(before, what, nowMs, () => random);
        expect(allowed(before, what)).toContain(next.to === "queued" ? next.because : next.to);
        if (next.to === "queued") expect(next.dueAtMs).toBeGreaterThanOrEqual(nowMs);
        if (next.to === "succeeded" && what.type === "succeeded") expect(next.output).toBe(what.output);
        if (next.to === "failed" && what.type === "failed") expect(next.error).toBe(what.error);
        if (next.to === "queued" && next.because === "lost" && what.type === "lost") {
          expect([next.alone, next.counts, next.reason]).toEqual([what.suspect, what.suspect, what.reason]);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("become final within the allowed attempts and losses that count", () => {
    fc.assert(
      fc.property(
        fc.option(policy),
        fc.array(outcome, { minLength: 200, maxLength: 200 }),
        (retry, outcomes) => {
          let [attempt, losses, runnerLosses] = [1, 0, 0];
          for (const what of outcomes) {
            const next: Transition = afterAttempt(
              { attempt, losses, runnerLosses, cancelRequested: false, retry },
              what,
              0,
              () => 0.5,
            );
            if (next.to !== "queued") break;
            if (next.because === "retry") attempt++;
            else {
              losses++;
              if (next.counts) runnerLosses++;
            }
          }
          expect(attempt).toBeLessThanOrEqual(1 + (retry?.maxRetries ?? 0));
          expect(runnerLosses).toBeLessThan(maxRunnerLosses);
        },
      ),
    );
  });

  test("are given up at the fifth loss that counts", () => {
    const lost = (runnerLosses: number, counts: boolean) =>
      afterLoss(
        { attempt: 1, losses: 100, runnerLosses, cancelRequested: false, retry: null },
        { reason: "It crashed.", alone: true, counts },
        1000,
      );
    expect(lost(3, true)).toMatchObject({ to: "queued", because: "lost", dueAtMs: 1000 });
    expect(lost(4, false)).toMatchObject({ to: "queued", because: "lost" });
    expect(lost(4, true)).toMatchObject({
      to: "failed",
      error: { name: "RunnerLostError", message: /5 times.*It crashed/ },
    });
  });

  test("have a delay after each loss but the first, up to 30 s", () => {
    expect([0, 1, 2, 3, 4, 1000].map(delayAfterLossMs)).toEqual([0, 200, 400, 800, 1600, 30_000]);
  });

  test("are final or not", () => {
    expect((["queued", "running", "succeeded", "failed", "cancelled"] as const).map(isEnd)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
  });
});

/** The transitions that states.ts describes. */
function allowed(before: RunningState, what: Outcome): string[] {
  if (what.type === "succeeded") return ["succeeded"];
  if (what.type === "cancelled" || before.cancelRequested) return ["cancelled"];
  if (what.type === "lost")
    return [what.suspect && before.runnerLosses + 1 === maxRunnerLosses ? "failed" : "lost"];
  const left = before.retry !== null && before.attempt <= before.retry.maxRetries && !what.final;
  return [left ? "retry" : "failed"];
}

describe("the delay before a retry", () => {
  const attempt = fc.integer({ min: 1, max: 2_000 });

  test("is between 0 and the initial delay doubled with each attempt, up to the maximum", () => {
    fc.assert(
      fc.property(policy, attempt, chance, (one, number, random) => {
        const delayMs = retryDelayMs(one, number, () => random);
        const maxMs = one.maxDelaySeconds * 1000;
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(
          Math.round(Math.min(maxMs, one.initialDelaySeconds * 1000 * 2 ** Math.min(number - 1, 52))),
        );
        if (one.strategy === "fixed") {
          expect(delayMs).toBe(Math.round(Math.min(maxMs, one.initialDelaySeconds * 1000)));
        }
      }),
    );
  });

  test("covers the whole range", () => {
    const one: RetryPolicy = {
      maxRetries: 9,
      strategy: "exponential",
      initialDelaySeconds: 1,
      maxDelaySeconds: 6,
    };
    const at = (number: number, random: number) => retryDelayMs(one, number, () => random);
    expect([1, 2, 3, 4, 9].map((number) => [at(number, 0), at(number, 0.5), at(number, 1)])).toEqual([
      [0, 500, 1000],
      [0, 1000, 2000],
      [0, 2000, 4000],
      [0, 3000, 6000],
      [0, 3000, 6000],
    ]);
  });
});

describe("identifiers", () => {
  const prefix = fc.constantFrom<OrderedPrefix[]>("dep", "exe", "sch", "upl", "dlv", "srv");

  test("of one process are unique and ordered when the clock is changed", () => {
    // Later than any other test's, since the order holds over all that this process makes.
    let clock = Date.now() + 3600_000;
    let last = "";
    fc.assert(
      fc.property(prefix, fc.integer({ min: -5_000, max: 5_000 }), (one, step) => {
        clock += step;
        const id = orderedId(one, clock);
        expect(isId(one, id)).toBe(true);
        expect(id.slice(4) > last).toBe(true);
        last = id.slice(4);
      }),
      { numRuns: 5_000 },
    );
  });

  test("contain their time in the first ten characters", () => {
    const ms = Date.now() + 7200_000;
    const digits = "0123456789abcdefghjkmnpqrstvwxyz";
    const time = [...orderedId("exe", ms).slice(4, 14)].reduce(
      (sum, digit) => sum * 32 + digits.indexOf(digit),
      0,
    );
    expect(time).toBe(ms);
  });

  test("with random prefixes are uniformly distributed", () => {
    const ids = Array.from({ length: 20_000 }, () => randomId("org"));
    expect(new Set(ids).size).toBe(ids.length);
    for (let place = 4; place < 30; place++) {
      const counts = Map.groupBy(ids, (id) => id[place]);
      expect(counts.size).toBe(32);
      // 625 each on average; the chance that one is so far off is below one in a billion.
      for (const group of counts.values()) expect(Math.abs(group.length - 625)).toBeLessThan(200);
    }
  });

  test("are validated", () => {
    const id = randomId("key");
    expect(isId("key", id)).toBe(true);
    for (const other of [
      id.toUpperCase(),
      `${id}0`,
      id.slice(0, -1),
      ` ${id}`,
      `${id}\n`,
      id.replace("key", "org"),
      `key_${"i".repeat(26)}`,
      "",
    ]) {
      expect(isId("key", other), JSON.stringify(other)).toBe(false);
    }
  });
});
