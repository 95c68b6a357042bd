/** Unit tests of the runner and the pool: outputs, lines, errors, the log limiter and the start limiter. */
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AttemptQueue } from "../../server/executions/pool/deployment/queue.ts";
import { StartLimiter } from "../../server/executions/pool/deployment/start-limiter.ts";
import type { Attempt, LogEntry, Outcome } from "../../server/executions/pool/index.ts";
import { LogLimiter } from "../../server/executions/pool/log-limiter.ts";
import type { RunnerProcess } from "../../server/executions/pool/runner-process.ts";
import { ErrorDescriber } from "../../server/executions/runner/errors.ts";
import { cutLine } from "../../server/executions/runner/lines/cut-line.ts";
import { LineBuffer } from "../../server/executions/runner/lines/line-buffer.ts";
import { toJson } from "../../server/executions/runner/output.ts";

describe("toJson", () => {
  const json = (value: unknown): string => toJson(value, "the output", 1000, 8);

  test.each([
    [undefined, "null"],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [{ toJSON: () => ({ b: 1 }) }, '{"b":1}'],
    [new Map([[1, 2]]), "{}"],
    ["\ud800", '"\\ud800"'],
    [-0, "0"],
  ])("serializes %o as JSON.stringify does", (value, expected) => expect(json(value)).toBe(expected));

  test("accepts an object that occurs twice", () => {
    const twice = { a: 1 };
    expect(json([twice, { twice }, twice])).toBe('[{"a":1},{"twice":{"a":1}},{"a":1}]');
  });

  test("rejects a cycle through toJSON", () => {
    const object: Record<string, unknown> = {};
    object.self = { toJSON: () => object };
    expect(() => json(object)).toThrow("its member self is part of a cycle");
  });

  test("limits the bytes, not the characters", () => {
    expect(json("é".repeat(499))).toHaveLength(501);
    expect(() => json("é".repeat(500))).toThrow("it may have 1000 bytes as JSON, but has 1002");
  });

  test("reports an accessor that throws a value that is not an error", () => {
    const hostile = {
      get a(): never {
        throw null;
      },
    };
    expect(() => json(hostile)).toThrow("Cannot store the output as JSON: null");
  });
});

describe("cutLine", () => {
  test.each(["x", "é", "€", "😀", "a😀"])(
    "truncates a line of %s between characters, for every limit",
    (text) => {
      const line = text.repeat(200);
      for (let limit = 90; limit < 300; limit++) {
        const cut = cutLine(line, limit);
        if (Buffer.byteLength(line) <= limit) expect(cut).toBe(line);
        else {
          expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
          expect(line.startsWith(cut.slice(0, cut.lastIndexOf("… (truncated")))).toBe(true);
          expect(cut).not.toContain("\uFFFD");
        }
      }
    },
  );
});

test("LineBuffer joins chunks into lines, and splits a line without end", () => {
  const lines: string[] = [];
  const buffer = new LineBuffer((level, line) =>
    lines.push(`${level} ${line.length > 9 ? line.length : line}`),
  );
  buffer.add("info", "a");
  buffer.add("warn", "x\ny");
  buffer.add("info", "b\nc\n\nd");
  buffer.flush();
  buffer.flush();
  for (let i = 0; i < 100; i++) buffer.add("info", "z".repeat(1000));
  expect(lines).toEqual(["warn x", "info ab", "info c", "info ", "info d", "warn y", "info 66000"]);
});

describe("LogLimiter", () => {
  const newLimiter = (): LogLimiter => new LogLimiter({ logLineBytes: 100, logLines: 3 }, () => {});

  test("limits stray lines per minute, with one note", () => {
    const entries: LogEntry[] = [];
    const limiter = newLimiter();
    for (let i = 0; i < 10; i++) limiter.addStray("info", `${i}`, Date.now(), entries);
    expect(entries.map(({ message }) => message)).toEqual([
      "0",
      "1",
      "2",
      expect.stringContaining("3 lines per minute"),
    ]);
  });

  test("replaces a time that differs from the server's by more than a minute", () => {
    const entries: LogEntry[] = [];
    const line = { id: "exe_1", level: "info" as const, text: "line" };
    const now = Date.now();
    newLimiter().add(
      [
        { ...line, atMs: now - 5 },
        { ...line, atMs: 0 },
        { ...line, atMs: Number.MAX_VALUE },
      ],
      entries,
    );
    expect(entries[0]?.atMs).toBe(now - 5);
    for (const { atMs } of entries.slice(1)) expect(Math.abs(atMs - now)).toBeLessThan(10_000);
  });
});

test("a deployment starts eight runners at once, then one per second", () => {
  const limiter = new StartLimiter();
  const at = (nowMs: number, times: number): number[] =>
    Array.from({ length: times }, () => limiter.take(nowMs));
  expect(at(1000, 9)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1000]);
  expect(at(1900, 1)).toEqual([100]);
  expect(at(2000, 2)).toEqual([0, 1000]);
  expect(at(4000, 3)).toEqual([0, 0, 1000]);
  expect(at(1_000_000, 9)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1000]);
});

describe("ErrorDescriber", () => {
  const describer = new ErrorDescriber("/srv/a package", "/srv/scratch/1");
  const thrown = (stack: string): { name: string; message: string; stack: string } => ({
    name: "Error",
    message: "broken",
    stack,
  });

  test("keeps the stack frames of the package, with paths relative to it", () => {
    const url = pathToFileURL("/srv/a package/agents/a.ts").href;
    const { stack } = describer.describe(
      thrown(`Error: broken
    at f (${url}:1:2)
    at /srv/a package/agents/lib/b.ts:3:4
    at async g (file:///srv/a package/agents/c.ts:5:6)
    at node:internal/process:1:1
    at h (${import.meta.url}:7:8)
    at i (/srv/other package/agents/a.ts:9:1)`),
    );
    expect(stack).toBe(`Error: broken
    at f (agents/a.ts:1:2)
    at agents/lib/b.ts:3:4
    at async g (agents/c.ts:5:6)`);
  });

  test("does not mistake the message for stack frames", () => {
    const message = "broken\n    at f (/srv/a package/agents/a.ts:1:2)";
    const { stack } = describer.describe({
      name: "Error",
      message,
      stack: `Error: ${message}\n    at g (x:1:1)`,
    });
    expect(stack).toBe("Error: broken\n    at f (agents/a.ts:1:2)");
  });

  test("limits the depth of causes", () => {
    const error = new Error("round");
    error.cause = error;
    expect(describer.describe(error).stack.match(/caused by/g)).toHaveLength(5);
  });

  test("finds the location of an error", () => {
    expect(
      describer.place(thrown("SyntaxError: x\n    at file:///srv/a%20package/agents/a.ts:12:3")),
    ).toEqual({
      file: "agents/a.ts",
      line: 12,
    });
    expect(describer.place(thrown("Error: no place"))).toBeNull();
  });

  test("removes folders of the server from log lines", () => {
    expect(describer.scrub("in /srv/a package/agents and /srv/scratch/1/file")).toBe(
      "in agents and <scratch>/file",
    );
    expect(describer.scrub("no path here")).toBe("no path here");
  });
});

describe("AttemptQueue", () => {
  const succeeded: Outcome = { type: "succeeded", output: "null" };

  /** The number of each attempt, and a runner whose attempts end when the test ends them. */
  function setUp() {
    const queue = new AttemptQueue();
    const ends: (() => void)[] = [];
    const run = (_: Attempt, resolve: (outcome: Outcome) => void) => ends.push(() => resolve(succeeded));
    const outcomes = new Map<string, Outcome>();
    const add = (from: number, to: number, alone = false) => {
      for (let n = from; n < to; n++) {
        const executionId = `exe_${n}`;
        queue.add({ executionId, alone } as Attempt, (outcome) => outcomes.set(executionId, outcome));
      }
    };
    return {
      queue,
      ends,
      outcomes,
      add,
      assign: () => queue.assign(() => ({ run }) as unknown as RunnerProcess),
    };
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"], now: 1_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("expects as many ends as a moment ago, when attempts are short", () => {
    const { queue, ends, add, assign } = setUp();
    add(0, 100);
    assign();
    expect(queue.endsWithin(20)).toBe(0);
    vi.advanceTimersByTime(5);
    for (const end of ends.slice(0, 30)) end();
    expect(queue.endsWithin(20)).toBe(30);
    expect(queue.endsWithin(10)).toBe(15);
    // Attempts that wait will not end soon.
    add(100, 200);
    expect(queue.endsWithin(20)).toBe(30);
    expect(queue.endsWithin(1_000)).toBe(70);
    // The rest are not short.
    vi.advanceTimersByTime(100);
    expect(queue.endsWithin(20)).toBe(0);
  });

  test("does not expect that long attempts which ended together are followed by others", () => {
    const { queue, ends, add, assign } = setUp();
    add(0, 100);
    assign();
    vi.advanceTimersByTime(1_000);
    for (const end of ends.slice(0, 50)) end();
    expect(queue.endsWithin(20)).toBe(1);
  });

  test("ends the newest attempts that have waited for long", () => {
    const { queue, outcomes, add } = setUp();
    add(0, 1, true);
    add(1, 10);
    add(10, 12, true);
    vi.advanceTimersByTime(1_000);
    const beforeMs = performance.now() - 1_000;
    vi.advanceTimersByTime(1);
    add(12, 20);
    queue.settleNewest(0, beforeMs, succeeded);
    queue.settleNewest(-1, beforeMs, succeeded);
    expect([...outcomes.keys()]).toEqual([]);
    queue.settleNewest(2, beforeMs, succeeded);
    expect([...outcomes.keys()]).toEqual(["exe_8", "exe_9"]);
    queue.settleNewest(100, beforeMs, succeeded);
    expect(outcomes.size).toBe(9);
    expect(queue.length).toBe(11);
  });
});
