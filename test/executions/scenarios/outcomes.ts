/** The outcome of an attempt, and of other attempts in the same runner. */
import type { Attempt, Outcome } from "../../../server/executions/pool/index.ts";
import { runtime } from "../../../server/runtime.ts";
import { poolScenario, type Scenario, scenario } from "../scenario.ts";

type Failed = Extract<Outcome, { type: "failed" }>;

interface Ending {
  reason: string;
  name: string;
  message: RegExp;
}

/** The outcomes of attempts that do not affect their runner. */
const shared: Record<string, Ending> = {
  throwAggregate: { reason: "thrown", name: "AggregateError", message: /^both failed$/ },
  throwText: { reason: "thrown", name: "Error", message: /^Thrown: just text$/ },
  throwNull: { reason: "thrown", name: "Error", message: /^Thrown: null$/ },
  throwHostile: { reason: "thrown", name: "Error", message: /unreadable value/ },
  throwProxy: { reason: "thrown", name: "Error", message: /unreadable value/ },
  throwHuge: { reason: "thrown", name: "Error", message: /^x{16384}… \(cut\)$/ },
  throwPaths: {
    reason: "thrown",
    name: "Error",
    message: /^at agents\/ and <scratch>\/file and <runtime>$/,
  },
  bigint: { reason: "output", name: "OutputError", message: /its member total\.0 is a BigInt/ },
  cycle: { reason: "output", name: "OutputError", message: /its member child\.parent is part of a cycle/ },
  function: { reason: "output", name: "OutputError", message: /its member callback is a function/ },
  symbol: { reason: "output", name: "OutputError", message: /its member 0 is a symbol/ },
  nan: { reason: "output", name: "OutputError", message: /its member mean is NaN/ },
  deep: { reason: "output", name: "OutputError", message: /nested deeper than 64 levels/ },
  toJSON: { reason: "output", name: "OutputError", message: /will not be stored/ },
};

/** The outcomes of attempts that end their runner, or leave it in an inconsistent state. */
const alone: Record<string, Ending> = {
  exit: { reason: "exit", name: "ExitError", message: /process\.exit\(3\)/ },
  exitCaught: { reason: "exit", name: "ExitError", message: /process\.exit\(0\)/ },
  exitInTimer: { reason: "exit", name: "ExitError", message: /process\.exit\(4\)/ },
  uncaught: { reason: "thrown", name: "RangeError", message: /thrown by a timer/ },
  abort: { reason: "crash", name: "CrashError", message: /signal SIGABRT/ },
  leakHeap: { reason: "memory", name: "MemoryError", message: /limit of 96 MiB/ },
  leakBuffers: { reason: "memory", name: "MemoryError", message: /limit of 96 MiB/ },
};

function endings(name: string, expected: Record<string, Ending>, more: Partial<Attempt>): Scenario {
  return scenario(
    name,
    async (lab) => {
      const found: Record<string, Outcome> = {};
      for (const end of Object.keys(expected)) found[end] = await lab.run("outcome", { end }, more);
      return found;
    },
    (found, expect) => {
      for (const [end, { reason, name, message }] of Object.entries(expected)) {
        expect(found[end], end).toMatchObject({ type: "failed", reason, final: false, error: { name } });
        const { error } = found[end] as Failed;
        expect(error.message, end).toMatch(message);
        if (error.stack !== "") expect(error.stack.startsWith(`${name}: `), end).toBe(true);
      }
    },
  );
}

export const outcomes: Scenario[] = [
  scenario(
    "runs on the expected runtime",
    async () => runtime.name,
    (found, expect, expected) => expect(found).toBe(expected),
  ),

  scenario(
    "input and context",
    (lab) =>
      lab.run(
        "outcome",
        { end: "context" },
        { attemptNumber: 3, trigger: "schedule", secrets: { TOKEN: "t" } },
      ),
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

  poolScenario(
    "secrets are frozen",
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

  poolScenario(
    "an output may have 64 levels of nesting",
    async (lab) => [
      await lab.run("outcome", { end: "levels64" }),
      await lab.run("outcome", { end: "levels65" }),
    ],
    (outcomes, expect) =>
      expect(outcomes).toMatchObject([{ type: "succeeded" }, { type: "failed", reason: "output" }]),
  ),

  poolScenario(
    "a large output arrives unchanged",
    async (lab) => {
      const outcome = await lab.run("bulk", { length: 100_000, text: 'é"\\\n' });
      return outcome.type === "succeeded" && JSON.parse(outcome.output) === 'é"\\\n'.repeat(100_000);
    },
    (same, expect) => expect(same).toBe(true),
  ),

  scenario(
    "reports an error with its cause, with paths of the project",
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

  endings("errors and outputs", shared, {}),
  endings("ends of the process", alone, { alone: true }),

  poolScenario(
    "a final error",
    (lab) => lab.run("outcome", { end: "throwFinal" }),
    (outcome, expect) => expect(outcome).toMatchObject({ type: "failed", final: true, reason: "thrown" }),
  ),

  scenario(
    "an unhandled rejection is logged and does not fail the execution",
    async (lab) => ({ outcome: await lab.run("outcome", { end: "rejection" }), lines: lab.lines("exe_1") }),
    ({ outcome, lines }, expect) => {
      expect(outcome).toEqual({ type: "succeeded", output: '"fine"' });
      expect(lines).toEqual([
        {
          level: "error",
          message: expect.stringMatching(/^Unhandled rejection: Error: not handled\n {4}at /),
        },
      ]);
    },
  ),

  scenario(
    "process.exit fails only the execution that calls it",
    async (lab) => {
      const neighbour = [lab.run("gate", { gate: "a" }), lab.run("gate", { gate: "a" })];
      await lab.arrival("a");
      const culprit = await lab.run("outcome", { end: "exit" });
      lab.open("a");
      const [first, second] = await Promise.all(neighbour);
      const later = await lab.run("outcome", { end: "pid" });
      return { culprit: culprit.type, first, second, later };
    },
    ({ culprit, first, second, later }, expect) => {
      expect(culprit).toBe("failed");
      expect(first).toMatchObject({ type: "succeeded" });
      expect(second).toEqual(first);
      expect(later.type).toBe("succeeded");
      // A runner in which process.exit was called gets no more attempts.
      expect(later).not.toEqual(first);
    },
  ),

  poolScenario(
    "a crash makes all attempts of the runner suspects, which run alone",
    async (lab) => {
      const neighbour = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      const outcomes = await Promise.all([lab.run("outcome", { end: "abort" }), neighbour]);
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
      const lost = { type: "lost", suspect: true, reason: "The runner crashed (signal SIGABRT)" };
      expect(outcomes).toEqual([lost, lost]);
      expect(alone).toMatchObject([{ type: "failed", reason: "crash" }, { type: "succeeded" }]);
    },
  ),

  scenario(
    "exceeding the memory limit makes all attempts of the runner suspects",
    async (lab) => {
      const neighbour = lab.run("gate", { gate: "a" });
      await lab.arrival("a");
      return Promise.all([lab.run("outcome", { end: "leakBuffers" }), neighbour]);
    },
    (outcomes, expect) => {
      const lost = { type: "lost", suspect: true, reason: expect.stringContaining("96 MiB") };
      expect(outcomes).toEqual([lost, lost]);
    },
  ),

  poolScenario(
    "an attempt that runs alone does not share its runner before, during or after",
    async (lab) => {
      const before = await lab.run("outcome", { end: "pid" });
      const alone = lab.run("gate", { gate: "a" }, { alone: true });
      await lab.arrival("a");
      const gates = Array.from({ length: 12 }, () => lab.run("gate", { gate: "b" }));
      await lab.arrival("b");
      lab.open("a");
      lab.open("b");
      const second = await lab.run("outcome", { end: "pid" }, { alone: true });
      const after = Array.from({ length: 12 }, () => lab.run("outcome", { end: "pid" }));
      return { alone: [await alone, second], others: [before, ...(await Promise.all([...gates, ...after]))] };
    },
    ({ alone, others }, expect) => {
      for (const { type } of [...alone, ...others]) expect(type).toBe("succeeded");
      expect(alone[0]).not.toEqual(alone[1]);
      for (const other of others) for (const one of alone) expect(other).not.toEqual(one);
    },
  ),

  poolScenario(
    "a runner that uses much memory is replaced before it exceeds the limit",
    async (lab) => {
      const first = await lab.run("outcome", { end: "keep" });
      let later = first;
      // The memory is checked at intervals, while the runner gets attempts.
      while (later.type === "succeeded" && JSON.stringify(later) === JSON.stringify(first)) {
        later = await lab.run("outcome", { end: "pid" });
      }
      return { first, later };
    },
    ({ first, later }, expect) => expect([first.type, later.type]).toEqual(["succeeded", "succeeded"]),
  ),
];
