import { expect, test } from "vitest";
import { interleave } from "./interleave.ts";
import { median, quantile } from "./statistics.ts";

test("measures programs in turn, and compares those of one round", async () => {
  const order: string[] = [];
  const values = { a: [99, 10, 30, 20], b: [99, 5, 10, 20] };
  const measure = (name: "a" | "b") => async () => {
    order.push(name);
    return values[name].shift() ?? Number.NaN;
  };
  const programs = await interleave({ a: measure("a"), b: measure("b") }, { rounds: 3, warmUps: 1 });
  expect(order.join("")).toBe("abbaabba");
  expect(programs).toEqual([
    { name: "a", median: 20, min: 10, max: 30, samples: 3 },
    { name: "b", median: 10, min: 5, max: 20, samples: 3, ratio: { median: 2, min: 1, max: 3 } },
  ]);
});

test("reports the medians of the latencies", async () => {
  const [program] = await interleave({ a: async () => ({ value: 1, p50Ms: 2, p99Ms: 3 }) }, { rounds: 2 });
  expect(program).toMatchObject({ p50Ms: 2, p99Ms: 3 });
});

test("a quantile is the nearest rank, and the median of an even number is a mean", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2);
  expect(quantile([4, 1, 3, 2], 0.99)).toBe(4);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(quantile([], 0.5)).toBeNaN();
});
