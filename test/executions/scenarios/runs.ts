/** `ctx.run`. */
import { poolScenario, type Scenario, scenario } from "../scenario.ts";

export const runs: Scenario[] = [
  scenario(
    "returns the output of a child execution",
    async (lab) => ({ outcome: await lab.run("runs", { use: "echo" }), calls: lab.calls }),
    ({ outcome, calls }, expect) => {
      expect(outcome).toEqual({ type: "succeeded", output: '{"a":[1,null]}' });
      expect(calls).toEqual([
        { executionId: "exe_1", name: "echo", input: { a: [1, null] }, key: "mine", index: 0, spanId: null },
      ]);
    },
  ),

  poolScenario(
    "numbers calls in their order",
    async (lab) => {
      await lab.run("runs", { use: "order" });
      return lab.calls.map(({ index, key }) => [index, key]);
    },
    (calls, expect) =>
      expect(calls).toEqual([
        [0, null],
        [1, "k"],
        [2, null],
      ]),
  ),

  poolScenario(
    "a thousand concurrent calls",
    (lab) => lab.run("runs", { use: "many" }),
    (outcome, expect) => expect(outcome).toEqual({ type: "succeeded", output: "1000" }),
  ),

  poolScenario(
    "throws the error of a child execution",
    async (lab) => [await lab.run("runs", { use: "fail" }), await lab.run("runs", { use: "uncaughtFail" })],
    ([caught, uncaught], expect) => {
      expect(JSON.parse((caught as { output: string }).output)).toEqual({
        name: "ExecutionError",
        message: "RangeError: no",
        executionId: "exe_child",
        cause: "RangeError",
      });
      expect(uncaught).toMatchObject({ type: "failed", reason: "thrown", error: { name: "ExecutionError" } });
    },
  ),

  poolScenario(
    "rejects invalid calls",
    async (lab) => [
      await lab.run("runs", { use: "badInput" }),
      await lab.run("runs", { use: "badName" }),
      await lab.run("runs", { use: "noObject" }),
    ],
    (outcomes, expect) => {
      expect(outcomes).toMatchObject([
        { error: { name: "OutputError", message: expect.stringContaining("the input of echo") } },
        { error: { name: "TypeError", message: expect.stringContaining("at most 64 characters") } },
        {
          error: {
            name: "TypeError",
            message: expect.stringContaining("its input must be an object, not an array"),
          },
        },
      ]);
    },
  ),

  poolScenario(
    "an abort rejects a pending call",
    (lab) => lab.run("runs", { use: "aborted" }, { timeoutMs: 100 }),
    (outcome, expect) => expect(outcome).toMatchObject({ type: "failed", reason: "timeout" }),
  ),

  poolScenario(
    "an attempt that waits for a child execution holds no slot",
    (lab) => lab.run("nest", { levels: 30 }),
    (outcome, expect) => expect(outcome).toEqual({ type: "succeeded", output: "30" }),
    { executionsPerRunner: 1, runnersPerDeployment: 1 },
  ),
];
