/** The log of users' code. */
import { poolScenario, type Scenario, scenario } from "../scenario.ts";

export const logs: Scenario[] = [
  scenario(
    "console",
    async (lab) => {
      await lab.run("logs", { way: "methods" });
      return lab.lines("exe_1");
    },
    (lines, expect) => {
      expect(lines).toEqual([
        { level: "debug", message: "debug text" },
        { level: "info", message: expect.stringMatching(/^log \{ a: \[ 1, \{ b: 2 \} \] \} 3n$/) },
        { level: "info", message: "info" },
        { level: "warn", message: "warn" },
        { level: "error", message: expect.stringMatching(/^RangeError: error/) },
        { level: "info", message: "group" },
        { level: "info", message: "  inside\n  two lines" },
        { level: "info", message: "outside" },
        { level: "info", message: expect.stringMatching(/\(index\).*\n.*\n.*0.*1/) },
        { level: "info", message: "default: 1" },
        { level: "info", message: "default: 2" },
        { level: "error", message: "Assertion failed: impossible" },
        { level: "info", message: expect.stringMatching(/^\{ deep: \[Object(?: \.\.\.)?\] \}$/) },
        { level: "warn", message: "Timer 'never started' does not exist" },
      ]);
    },
  ),

  poolScenario(
    "ctx.log",
    async (lab) => {
      await lab.run("logs", { way: "context" });
      return lab.lines("exe_1");
    },
    (lines, expect) =>
      expect(lines).toEqual([
        { level: "debug", message: "a 1" },
        { level: "info", message: "b" },
        { level: "warn", message: "c" },
        { level: "error", message: "d" },
      ]),
  ),

  poolScenario(
    "structured entries",
    async (lab) => {
      await lab.run("logs", { way: "fields" });
      return lab.lines("exe_1");
    },
    (lines, expect) => {
      const [placed, ...others] = lines;
      expect(placed).toMatchObject({ level: "info", message: "placed" });
      expect(JSON.parse(placed?.fields ?? "")).toEqual({
        order: 17,
        big: "3",
        at: "1970-01-01T00:00:00.000Z",
        cause: { name: "RangeError", message: "no stock", stack: expect.stringContaining("agents/logs.ts:") },
      });
      expect(others).toEqual([
        { level: "info", message: "2 orders", fields: '{"total":5}' },
        { level: "info", message: expect.stringMatching(/^used \{ here: 1 \}$/) },
        { level: "info", message: expect.stringMatching(/^large \{.*xxx/s) },
        { level: "info", message: expect.stringMatching(/^function \{ list: \[ \[Function/) },
        { level: "info", message: "{ only: 'value' }" },
        { level: "info", message: "console { a: 1 }" },
      ]);
    },
  ),

  scenario(
    "standard streams",
    async (lab) => {
      await lab.run("logs", { way: "streams" });
      return lab.lines("exe_1");
    },
    (lines, expect) =>
      expect(lines).toEqual([
        { level: "info", message: "one line" },
        { level: "warn", message: "problem" },
        { level: "info", message: "secondthird" },
        { level: "info", message: "fourth" },
      ]),
  ),

  poolScenario(
    "replaces NUL, which PostgreSQL cannot store",
    async (lab) => {
      await lab.run("logs", { way: "nul" });
      return lab.lines("exe_1");
    },
    (lines, expect) => expect(lines).toEqual([{ level: "info", message: "a\uFFFDb" }]),
  ),

  scenario(
    "a line written directly to standard error",
    async (lab) => {
      await lab.run("logs", { way: "raw" }, { alone: true });
      await lab.pools.close(10_000);
      return lab.lines(null);
    },
    (lines, expect) => expect(lines).toEqual([{ level: "warn", message: "raw line" }]),
  ),

  poolScenario(
    "a long line is truncated between characters, with a note",
    async (lab) => {
      await lab.run("logs", { way: "long" });
      return lab.lines("exe_1");
    },
    (lines, expect) => {
      expect(lines).toHaveLength(1);
      const { message } = lines[0] ?? { message: "" };
      expect(message).toMatch(/^é+… \(truncated: a line may have 1000 bytes, this one had 20000\)$/);
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1000);
    },
  ),

  poolScenario(
    "lines over the limit are dropped, with a note",
    async (lab) => {
      await lab.run("logs", { way: "many" });
      return lab.lines("exe_1");
    },
    (lines, expect) => {
      expect(lines).toHaveLength(101);
      expect(lines[99]?.message).toBe("line 99");
      expect(lines[100]).toEqual({
        level: "warn",
        message: "The log is truncated here: an execution may write 100 lines",
      });
    },
  ),

  poolScenario(
    "a flood of lines does not affect other executions",
    async (lab) => {
      const outcome = await lab.run("logs", { way: "flood" });
      return {
        outcome,
        lines: lab.lines("exe_1").length,
        next: (await lab.run("outcome", { end: "nothing" })).type,
      };
    },
    (found, expect) =>
      expect(found).toEqual({
        outcome: { type: "succeeded", output: "null" },
        lines: 101,
        next: "succeeded",
      }),
  ),

  poolScenario(
    "lines outside of executions are limited per minute",
    async (lab) => {
      await lab.run("logs", { way: "floodStray" }, { alone: true });
      await lab.run("logs", { way: "floodStray" });
      // The runner of the second attempt still runs. A later answer from it proves that its lines have arrived.
      await lab.run("logs", { way: "context" });
      return lab.lines(null).length;
    },
    (count, expect) => expect(count).toBeLessThanOrEqual(2 * 101),
  ),

  poolScenario(
    "lines written before an endless loop are delivered",
    async (lab) => {
      const outcome = await lab.run("logs", { way: "beforeSpin" }, { alone: true, timeoutMs: 500 });
      return { outcome: outcome.type, lines: lab.lines("exe_1") };
    },
    (found, expect) =>
      expect(found).toEqual({ outcome: "failed", lines: [{ level: "info", message: "about to spin" }] }),
    { killGraceMs: 300 },
  ),

  poolScenario(
    "output of timers that outlive their execution belongs to no execution",
    async (lab) => {
      const first = await lab.run("logs", { way: "later" });
      const gated = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      // Waits for the output of the timers.
      while (lab.lines(null).length < 2) await new Promise((resolve) => setImmediate(resolve));
      lab.open("a");
      return {
        first: first.type,
        gated: (await gated).type,
        own: lab.lines("exe_2"),
        stray: lab.lines(null),
      };
    },
    ({ first, gated, own, stray }, expect) => {
      expect([first, gated, own]).toEqual(["succeeded", "succeeded", []]);
      expect(stray).toContainEqual({ level: "info", message: "after the end" });
      expect(stray).toContainEqual({
        level: "error",
        message: expect.stringMatching(/^Uncaught Error: after the end\n {4}at .*agents\/logs\.ts/),
      });
    },
  ),
];
