import { expect, test } from "vitest";
import { figures } from "./figures.ts";
import { estimate, waitMs } from "./model.ts";

test.each([
  [0.5, 1, 1],
  [0.5, 2, 1 / 3],
  [0.9, 1, 9],
  [0, 4, 0],
])(
  "the wait at a utilization of %d with %d processors is that of M/M/c",
  (utilization, servers, expected) => {
    expect(waitMs(utilization, servers, 1)).toBeCloseTo(expected, 9);
  },
);

test("the bottleneck has the highest utilization, 70 %", () => {
  const machine = {
    databaseProcessors: 4,
    runnerProcessors: 4,
    walBytesPerSecond: 200e6,
    waitingShare: 0.5,
    connectionsPerProcess: 9,
    maxConnections: 100,
  };
  for (const nodes of [1, 10, 100]) {
    const { bottleneck, utilization, connections, fitsConnections } = estimate(figures, machine, nodes);
    expect(utilization[bottleneck]).toBeCloseTo(0.7, 6);
    expect(Math.max(...Object.values(utilization))).toBe(utilization[bottleneck]);
    expect(fitsConnections).toBe(connections <= 100);
  }
});
