import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { futureTime, integer, pastTime } from "../../cli/app/option-values.ts";
import { bytes, duration, relativeTime } from "../../cli/terminal/format.ts";
import { lineJson, prettyJson, sanitize, sanitizeLine } from "../../cli/terminal/sanitize.ts";
import { logFormatter } from "../../cli/views/log-entry.ts";
import { emptySnapshot, planChanges, type Snapshot } from "../../project/plan/plan.ts";
import { LogLineSchema } from "../../proto/svc/v1/execution_pb.ts";

describe("log entries", () => {
  const entry = (environment: string) =>
    create(LogLineSchema, {
      name: "triage",
      message: "hello",
      level: "info",
      environment,
      executionId: "exe_123456",
    });
  const lines = (options: { showsEnvironment: boolean }) =>
    ["production", "staging", ""].map((environment) =>
      logFormatter(process.stdout, { full: false, ...options })(entry(environment)).trim(),
    );

  test("name their environment where several may appear", () => {
    expect(lines({ showsEnvironment: true })).toEqual([
      "triage  hello",
      "triage (staging)  hello",
      "triage  hello",
    ]);
    expect(lines({ showsEnvironment: false })).toEqual(Array(3).fill("triage  hello"));
  });
});

/** A seeded generator of numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

describe("sanitized text", () => {
  test.each([
    ["plain\ttext\nof lines", "plain\ttext\nof lines"],
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b[2J\u001b[1;1Hgone", "gone"],
    ["\u001b]0;title\u0007after", "after"],
    ["\u001b]8;;http://evil\u001b\\link", "link"],
    ["\u009b31mC1", "C1"],
    ["a\rb\u0007c\u0000", "a\ufffdb\ufffdc\ufffd"],
    ["user\u202egpj.exe", "user\ufffdgpj.exe"],
    ["unended \u001b[31", "unended \ufffd[31"],
    ["unended \u001b]0;title\nnext line\u0007", "unended \ufffd]0;title\nnext line\ufffd"],
    ["日本 ü 🎉", "日本 ü 🎉"],
  ])("%j becomes %j", (text, expected) => {
    expect(sanitize(text)).toBe(expected);
  });

  test("random text keeps no control character except tab and line feed", () => {
    const random = seeded(7);
    const pieces = [
      "\u001b",
      "[",
      "]",
      ";",
      "m",
      "\u0007",
      "\\",
      "\u009b",
      "\u009d",
      "\u202e",
      "\r",
      "\n",
      "\t",
      "x",
      "0",
    ];
    for (let round = 0; round < 5_000; round += 1) {
      const length = Math.floor(random() * 12);
      const text = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join("");
      expect(sanitize(text)).not.toMatch(/[[\p{Cc}\p{Bidi_Control}]--[\t\n]]/v);
      expect(sanitizeLine(text)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      // JSON keeps the value and escapes control characters.
      for (const json of [prettyJson({ text }), lineJson({ text })]) {
        expect(JSON.parse(json)).toEqual({ text });
        expect(json).not.toMatch(/[[\p{Cc}\p{Bidi_Control}]--[\n]]/v);
      }
    }
  });
});

describe("sizes, durations and times", () => {
  test.each<[number, string]>([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [1_500_000, "1.4 MiB"],
    [5 * 1024 ** 4, "5120.0 GiB"],
  ])("%d bytes are %s", (size, text) => {
    expect(bytes(size)).toBe(text);
  });

  test.each<[number, string]>([
    [0.4, "0 ms"],
    [999, "999 ms"],
    [1000, "1.0 s"],
    [59_949, "59.9 s"],
    [59_950, "1 min"],
    [125_000, "2 min 5 s"],
    [3_600_000, "1 h"],
    [100 * 3_600_000, "4 days"],
  ])("%d ms are %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  test.each<[number, string]>([
    [0, "0 s ago"],
    [-59, "59 s ago"],
    [61, "in 1 min"],
    [-7200, "2 h ago"],
    [200_000, "in 2 days"],
  ])("%d s from now is %s", (seconds, text) => {
    const now = new Date("2026-03-01T12:00:00Z");
    expect(relativeTime(new Date(now.getTime() + seconds * 1000), now)).toBe(text);
  });

  const now = new Date("2026-03-01T12:00:00Z");
  test.each([
    ["90s", "2026-03-01T11:58:30.000Z"],
    ["2h", "2026-03-01T10:00:00.000Z"],
    ["1w", "2026-02-22T12:00:00.000Z"],
    ["2026-02-01", "2026-02-01T00:00:00.000Z"],
    ["2026-02-01T10:00:00+02:00", "2026-02-01T08:00:00.000Z"],
  ])("--since %s is %s", (text, expected) => {
    expect(pastTime(text, "--since", now).toISOString()).toBe(expected);
  });

  test.each([
    "",
    "1",
    "h",
    "-1h",
    "1y",
    "1.5h",
    "9999999d",
    "2026-13-01",
    "2026-02-30T99:00:00Z",
    "March 1",
    "2026-02-01T10:00:00",
    "2026-02-01 10:00",
    "0x10s",
  ])("--since %j is rejected", (text) => {
    expect(() => pastTime(text, "--since", now)).toThrow("--since must be");
  });

  test("a time without a zone gets an example with one", () => {
    expect(() => pastTime("2026-02-01 10:00:00", "--since", now)).toThrow(
      expect.objectContaining({
        message: '--since must be an RFC 3339 time with a time zone, not "2026-02-01 10:00:00".',
        advice: "Example: --since 2026-02-01T10:00:00Z for UTC, or --since 2026-02-01T10:00:00+02:00",
      }),
    );
  });

  test("--expires must be in the future", () => {
    expect(futureTime("30d", "--expires", now).toISOString()).toBe("2026-03-31T12:00:00.000Z");
    expect(() => futureTime("2026-03-01T12:00:00Z", "--expires", now)).toThrow("--expires must be");
    expect(() => futureTime("0s", "--expires", now)).toThrow("--expires must be");
  });

  test.each(["", "-1", "1e3", "0x1", " 5", "5 ", "1001", "99999999999999999999", "٣"])(
    "%j is rejected as a number from 1 to 1000",
    (text) => {
      expect(() => integer(1, 1000)(text, "--limit")).toThrow("--limit must be a whole number");
    },
  );
});

describe("a plan", () => {
  const snapshot = (
    attributes: Record<string, Record<string, string>>,
    files: Record<string, string>,
  ): Snapshot => ({
    ...emptySnapshot,
    agents: new Map(Object.entries(attributes)),
    files: new Map(Object.entries(files).map(([path, digest]) => [path, { digest }])),
  });

  test("has no changes for equal snapshots", () => {
    const same = snapshot({ a: { timeout: "1 s" } }, { "agents/a.ts": "1" });
    expect(planChanges(same, same)).toEqual({
      agents: [],
      workflows: [],
      webhooks: [],
      schedules: [],
      files: [],
    });
  });

  test.each([
    ["agents/a.ts", true],
    ["agents/a.mjs", true],
    ["agents/a/index.ts", true],
    ["agents/a/deep/x.json", true],
    ["agents/ab.ts", false],
    ["agents/a.txt", false],
    ["workflows/a.ts", false],
    ["agents/lib/a.ts", false],
  ])("a change of %s is a change of agent a: %s", (path, isCode) => {
    const { agents, files } = planChanges(
      snapshot({ a: {} }, { [path]: "1" }),
      snapshot({ a: {} }, { [path]: "2" }),
    );
    expect(agents).toEqual(isCode ? [{ change: "changed", key: "a", details: ["code"] }] : []);
    expect(files).toEqual([{ change: "changed", key: path, details: [] }]);
  });

  test("a change of a source map alone is a change of its module", () => {
    const map = ".svc-maps/agents/a.ts.map";
    const before = snapshot({ a: {} }, { "agents/a.ts": "1", [map]: "1" });
    const changed = [{ change: "changed", key: "agents/a.ts", details: [] }];
    expect(planChanges(before, snapshot({ a: {} }, { "agents/a.ts": "1", [map]: "2" })).files).toEqual(
      changed,
    );
    expect(planChanges(before, snapshot({ a: {} }, { "agents/a.ts": "2", [map]: "2" })).files).toEqual(
      changed,
    );
    expect(planChanges(emptySnapshot, before).files).toEqual([
      { change: "added", key: "agents/a.ts", details: [] },
    ]);
  });

  test("lists added, changed and then removed items", () => {
    const before = snapshot({ removed: {}, kept: { retries: "0" } }, { "agents/removed.ts": "1" });
    const after = snapshot({ added: {}, kept: { retries: "3" } }, { "agents/added.ts": "1" });
    expect(planChanges(before, after)).toMatchObject({
      agents: [
        { change: "added", key: "added" },
        { change: "changed", key: "kept", details: ["retries: 0 → 3"] },
        { change: "removed", key: "removed" },
      ],
      files: [
        { change: "added", key: "agents/added.ts" },
        { change: "removed", key: "agents/removed.ts" },
      ],
    });
  });
});
