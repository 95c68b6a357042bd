/** The smaller parts by themselves: outputs, lines, errors, the log gate, the budget of starts. */
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { LogEntry } from "../../server/executions/pool/index.ts";
import { LogLimiter } from "../../server/executions/pool/log-limiter.ts";
import { StartLimiter } from "../../server/executions/pool/start-limiter.ts";
import { cutLine } from "../../server/executions/runner/cut-line.ts";
import { ErrorDescriber } from "../../server/executions/runner/errors.ts";
import { LineBuffer } from "../../server/executions/runner/line-buffer.ts";
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
  ])("%o as JSON.stringify has it", (value, expected) => expect(json(value)).toBe(expected));

  test("an object that occurs twice is no cycle", () => {
    const twice = { a: 1 };
    expect(json([twice, { twice }, twice])).toBe('[{"a":1},{"twice":{"a":1}},{"a":1}]');
  });

  test("a cycle through toJSON", () => {
    const object: Record<string, unknown> = {};
    object.self = { toJSON: () => object };
    expect(() => json(object)).toThrow("its member self is part of a cycle");
  });

  test("a limit is a limit of bytes", () => {
    expect(json("é".repeat(499))).toHaveLength(501);
    expect(() => json("é".repeat(500))).toThrow("which may have 1000 bytes as JSON: it has 1002");
  });

  test("an accessor that throws anything", () => {
    const hostile = {
      get a(): never {
        throw null;
      },
    };
    expect(() => json(hostile)).toThrow("Cannot store the output as JSON: null");
  });
});

describe("cutLine", () => {
  test.each(["x", "é", "€", "😀", "a😀"])("cuts a line of %s between characters, for every limit", (text) => {
    const line = text.repeat(200);
    for (let limit = 80; limit < 300; limit++) {
      const cut = cutLine(line, limit);
      if (Buffer.byteLength(line) <= limit) expect(cut).toBe(line);
      else {
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        expect(line.startsWith(cut.slice(0, cut.lastIndexOf("… (cut")))).toBe(true);
        expect(cut).not.toContain("\uFFFD");
      }
    }
  });
});

test("LineBuffer joins what was written and gives out what never ends", () => {
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
  const gate = (): LogLimiter => new LogLimiter({ lineBytes: 100, lines: 3, count: () => {} });

  test("lets so many lines of no job pass, then says that it leaves some out, once", () => {
    const entries: LogEntry[] = [];
    const one = gate();
    for (let i = 0; i < 10; i++) one.stray("info", `${i}`, Date.now(), entries);
    expect(entries.map(({ message }) => message)).toEqual([
      "0",
      "1",
      "2",
      expect.stringContaining("3 a minute"),
    ]);
  });

  test("does not believe a clock that is far off", () => {
    const entries: LogEntry[] = [];
    const line = { id: "exe_1", level: "info" as const, text: "line" };
    const now = Date.now();
    gate().take(
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

test("a deployment starts eight children at once, then two a second", () => {
  const budget = new StartLimiter();
  const at = (nowMs: number, times: number): number[] =>
    Array.from({ length: times }, () => budget.take(nowMs));
  expect(at(1000, 9)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 500]);
  expect(at(1400, 1)).toEqual([100]);
  expect(at(1500, 2)).toEqual([0, 500]);
  expect(at(2500, 3)).toEqual([0, 0, 500]);
  expect(at(1_000_000, 9)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 500]);
});

describe("ErrorDescriber", () => {
  const describer = new ErrorDescriber("/srv/a package", "/srv/scratch/1");
  const thrown = (stack: string): { name: string; message: string; stack: string } => ({
    name: "Error",
    message: "broken",
    stack,
  });

  test("keeps the frames of the package, in its own paths", () => {
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

  test("a message is not taken for frames", () => {
    const message = "broken\n    at f (/srv/a package/agents/a.ts:1:2)";
    const { stack } = describer.describe({
      name: "Error",
      message,
      stack: `Error: ${message}\n    at g (x:1:1)`,
    });
    expect(stack).toBe("Error: broken\n    at f (agents/a.ts:1:2)");
  });

  test("causes that never end", () => {
    const error = new Error("round");
    error.cause = error;
    expect(describer.describe(error).stack.match(/caused by/g)).toHaveLength(5);
  });

  test("the place of an error", () => {
    expect(
      describer.place(thrown("SyntaxError: x\n    at file:///srv/a%20package/agents/a.ts:12:3")),
    ).toEqual({
      file: "agents/a.ts",
      line: 12,
    });
    expect(describer.place(thrown("Error: no place"))).toBeNull();
  });

  test("lines of the log name no folder of the server's", () => {
    expect(describer.scrub("in /srv/a package/agents and /srv/scratch/1/file")).toBe(
      "in agents and <scratch>/file",
    );
    expect(describer.scrub("nothing to hide")).toBe("nothing to hide");
  });
});
