/** What becomes of an execution, and of those beside it. */
import type { Outcome } from "../../../server/executions/pool/index.ts";
import { runtime } from "../../../server/runtime.ts";
import { type Scenario, scenario } from "../scenario.ts";

type Failed = Extract<Outcome, { type: "failed" }>;

function endsAs(end: string, reason: string, name: string, message: string | RegExp): Scenario {
  return scenario(
    `outcome: ${end}`,
    (lab) => lab.run("outcome", { end }, { alone: true }) as Promise<Failed>,
    (outcome, expect) => {
      expect(outcome).toMatchObject({ type: "failed", reason, error: { name } });
      expect(outcome.error.message).toMatch(message);
      expect(outcome.error.stack.startsWith(outcome.error.stack === "" ? "" : name)).toBe(true);
    },
  );
}

export const outcomes: Scenario[] = [
  scenario(
    "the runtime",
    async () => runtime.name,
    (found, expect, expected) => expect(found).toBe(expected),
  ),

  scenario(
    "input and context",
    (lab) =>
      lab.run("outcome", { end: "context" }, { attempt: 3, trigger: "schedule", secrets: { TOKEN: "t" } }),
    (outcome, expect) => {
      expect(outcome).toMatchObject({ type: "succeeded" });
      expect(JSON.parse((outcome as { output: string }).output)).toEqual({
        executionId: "exe_1",
        attempt: 3,
        trigger: "schedule",
        deploymentId: "dep_input-and-context",
        organizationId: "org_lab",
        environment: "production",
        secrets: { TOKEN: "t" },
      });
    },
  ),

  scenario(
    "secrets cannot be changed",
    (lab) => lab.run("outcome", { end: "secretsFrozen" }, { secrets: { TOKEN: "t" } }),
    (outcome, expect) => expect(outcome).toEqual({ type: "succeeded", output: '"TypeError"' }),
  ),

  scenario(
    "outputs",
    async (lab) => [
      await lab.run("outcome", { end: "nothing" }),
      await lab.run("outcome", { end: "date" }),
      await lab.run("bulk", { length: 999_998 }).then((outcome) => outcome.type),
      await lab.run("bulk", { length: 333_332, text: "€" }).then((outcome) => outcome.type),
      await lab.run("bulk", { length: 999_999 }),
      await lab.run("bulk", { length: 333_333, text: "€" }).then((outcome) => outcome.type),
    ],
    (found, expect) => {
      const [nothing, date, ...sizes] = found;
      expect(nothing).toEqual({ type: "succeeded", output: "null" });
      expect(date).toEqual({ type: "succeeded", output: '{"at":"1970-01-01T00:00:00.000Z","list":[null]}' });
      expect(sizes).toMatchObject([
        "succeeded",
        "succeeded",
        {
          type: "failed",
          reason: "output",
          error: { message: expect.stringContaining("may have 1000000 bytes") },
        },
        "failed",
      ]);
    },
  ),

  scenario(
    "64 levels are enough",
    async (lab) => [
      await lab.run("outcome", { end: "levels64" }),
      await lab.run("outcome", { end: "levels65" }),
    ],
    (outcomes, expect) =>
      expect(outcomes).toMatchObject([{ type: "succeeded" }, { type: "failed", reason: "output" }]),
  ),

  scenario(
    "a large output is what was returned",
    async (lab) => {
      const outcome = await lab.run("bulk", { length: 100_000, text: 'é"\\\n' });
      return outcome.type === "succeeded" && JSON.parse(outcome.output) === 'é"\\\n'.repeat(100_000);
    },
    (same, expect) => expect(same).toBe(true),
  ),

  scenario(
    "an error with its cause, in the project's paths",
    (lab) => lab.run("outcome", { end: "throw" }) as Promise<Failed>,
    ({ error, ...rest }, expect) => {
      expect(rest).toEqual({ type: "failed", final: false, reason: "thrown" });
      expect(error).toMatchObject({ name: "TypeError", message: "no such customer" });
      const lines = error.stack.split("\n");
      expect(lines[0]).toBe("TypeError: no such customer");
      expect(lines[1]).toMatch(/^ {4}at .*\(?agents\/outcome\.ts:\d+:\d+\)?$/);
      expect(lines.find((line) => line.startsWith("caused by"))).toBe(
        "caused by Error: the database is closed",
      );
      for (const line of lines.filter((text) => text.startsWith(" ")))
        expect(line).toContain("agents/outcome.ts:");
    },
  ),

  endsAs("throwAggregate", "thrown", "AggregateError", /^both failed$/),
  endsAs("throwText", "thrown", "Error", /^Thrown: just text$/),
  endsAs("throwNull", "thrown", "Error", /^Thrown: null$/),
  endsAs("throwHostile", "thrown", "Error", /cannot be read/),
  endsAs("throwProxy", "thrown", "Error", /cannot be read/),
  endsAs("throwHuge", "thrown", "Error", /^x{16384}… \(cut\)$/),
  endsAs("throwPaths", "thrown", "Error", /^at agents\/ and <scratch>\/file and <runtime>$/),
  endsAs("bigint", "output", "OutputError", /its member total\.0 is a BigInt/),
  endsAs("cycle", "output", "OutputError", /its member child\.parent is part of a cycle/),
  endsAs("function", "output", "OutputError", /its member callback is a function/),
  endsAs("symbol", "output", "OutputError", /its member 0 is a symbol/),
  endsAs("nan", "output", "OutputError", /its member mean is NaN/),
  endsAs("deep", "output", "OutputError", /nested deeper than 64 levels/),
  endsAs("toJSON", "output", "OutputError", /will not be stored/),
  endsAs("exit", "exit", "ExitError", /process\.exit\(3\)/),
  endsAs("exitCaught", "exit", "ExitError", /process\.exit\(0\)/),
  endsAs("exitInTimer", "exit", "ExitError", /process\.exit\(4\)/),
  endsAs("uncaught", "thrown", "RangeError", /thrown by a timer/),
  endsAs("abort", "crash", "CrashError", /signal SIGABRT/),
  endsAs("leakHeap", "memory", "MemoryError", /limit of 96 MiB/),
  endsAs("leakBuffers", "memory", "MemoryError", /limit of 96 MiB/),

  scenario(
    "a final error",
    (lab) => lab.run("outcome", { end: "throwFinal" }),
    (outcome, expect) => expect(outcome).toMatchObject({ type: "failed", final: true, reason: "thrown" }),
  ),

  scenario(
    "an unhandled rejection is logged and fails nothing",
    async (lab) => ({ outcome: await lab.run("outcome", { end: "rejection" }), lines: lab.lines("exe_1") }),
    ({ outcome, lines }, expect) => {
      expect(outcome).toEqual({ type: "succeeded", output: '"fine"' });
      expect(lines).toEqual([
        {
          level: "error",
          message: expect.stringMatching(/^Unhandled rejection: Error: nobody looks\n {4}at /),
        },
      ]);
    },
  ),

  scenario(
    "process.exit fails its own execution and no other",
    async (lab) => {
      const beside = [lab.run("gate", { gate: "a" }), lab.run("gate", { gate: "a" })];
      await lab.arrival("a");
      const culprit = await lab.run("outcome", { end: "exit" });
      lab.open("a");
      const [first, second] = await Promise.all(beside);
      const later = await lab.run("outcome", { end: "pid" });
      return { culprit: culprit.type, first, second, later };
    },
    ({ culprit, first, second, later }, expect) => {
      expect(culprit).toBe("failed");
      expect(first).toMatchObject({ type: "succeeded" });
      expect(second).toEqual(first);
      expect(later.type).toBe("succeeded");
      // The process that somebody wanted to leave takes no further work.
      expect(later).not.toEqual(first);
    },
  ),

  scenario(
    "an unexplained death makes suspects, which run alone",
    async (lab) => {
      const beside = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const outcomes = await Promise.all([lab.run("outcome", { end: "abort" }), beside]);
      lab.open("a");
      return {
        outcomes,
        alone: [
          await lab.run("outcome", { end: "abort" }, { alone: true }),
          await lab.run("gate", { gate: "a" }, { alone: true }),
        ],
      };
    },
    ({ outcomes, alone }, expect) => {
      const lost = { type: "lost", suspect: true, reason: "Its process ended: signal SIGABRT" };
      expect(outcomes).toEqual([lost, lost]);
      expect(alone).toMatchObject([{ type: "failed", reason: "crash" }, { type: "succeeded" }]);
    },
  ),

  scenario(
    "running out of memory makes suspects of those beside",
    async (lab) => {
      const beside = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      return Promise.all([lab.run("outcome", { end: "leakBuffers" }), beside]);
    },
    (outcomes, expect) => {
      const lost = { type: "lost", suspect: true, reason: expect.stringContaining("96 MiB") };
      expect(outcomes).toEqual([lost, lost]);
    },
  ),

  scenario(
    "a job alone shares its process with nothing",
    async (lab) => {
      const before = await lab.run("outcome", { end: "pid" });
      const alone = [
        await lab.run("outcome", { end: "pid" }, { alone: true }),
        await lab.run("outcome", { end: "pid" }, { alone: true }),
      ];
      const after = await lab.run("outcome", { end: "pid" });
      return { before, alone, after };
    },
    ({ before, alone, after }, expect) => {
      expect(after).toEqual(before);
      expect(new Set([before, ...alone].map((outcome) => JSON.stringify(outcome))).size).toBe(3);
    },
  ),
];
