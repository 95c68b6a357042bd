/** Parses random and mutated project files. The result must be a definition or problems with valid positions. */

import { expect, test } from "vitest";
import { parseProjectFile } from "../../project/file/parse.ts";
import { formatProblem } from "../../project/problem.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const lines = [
  "name: demo",
  'version: "1.0"',
  "agents:",
  "  - name: triage",
  "    display_name: T",
  "    description: Sorts mail",
  "    expose_as_tool: true",
  "    timeout: 10",
  "    enable_retry: true",
  "    retry_policy: { max_retries: 5, strategy: fixed, initial_delay: 0.5 }",
  "    webhooks:",
  "      - slug: new_mail",
  "        field_mapping: { user.email: email, 'items[0].sku': sku }",
  "        signature: { scheme: hmac, secret: [A, B], header: X-S }",
  "        rate_limit: { requests_per_second: 2, burst: 7 }",
  "        events: [issues.opened, 'push.*']",
  "        event: [$header.x-event, action]",
  "        when: { action: [a, 1, null], b: { exists: true, not: [Bot] } }",
  "        methods: [POST]",
  "        keep_rejected: true",
  "        respond: { kind: output, timeout: 3, late: 200 }",
  "        idempotency: { header: x-id, after_failure: replay }",
  "workflows:",
  "  - name: nightly",
  "schedules:",
  "  agents:",
  '    triage: { cron: "*/5 * * * *", timezone: Europe/Berlin, input: { a: [1, null] } }',
];

const token = fc.constantFrom(
  ...[
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a ",
    "*a",
    "!!str ",
    "!x ",
    "? ",
    "| ",
    ">\n",
    "'",
    '"',
    "#",
    "\t",
    "---\n",
    "...\n",
  ],
  ...[
    "<<: ",
    "~",
    "null",
    "yes",
    "0x1f",
    ".inf",
    "1e999",
    "-0",
    "\u0000",
    "\ufeff",
    "\ud800",
    "😀",
    "\u2028",
    "\r",
    "%YAML 1.1\n",
  ],
  ...[
    "__proto__: 1",
    "constructor: {}",
    "name: ",
    "slug: ",
    "agents: ",
    "x-y: ",
    "\\",
    "  ",
    "\n",
    "a: &b { c: *b }",
  ],
);

const text = fc.oneof(
  fc.string({ maxLength: 200, unit: "binary" }),
  fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join("")),
  fc
    .tuple(
      fc.array(
        fc.record({ at: fc.nat(2000), drop: fc.nat(20), put: fc.oneof(token, fc.string({ maxLength: 5 })) }),
        { maxLength: 3 },
      ),
      fc.boolean(),
    )
    .map(([edits, shuffled]) => {
      const start = (shuffled ? lines.toReversed() : lines).join("\n");
      return edits.reduce((current, { at, drop, put }) => {
        const place = at % (current.length + 1);
        return current.slice(0, place) + put + current.slice(place + drop);
      }, start);
    }),
);

const fuzzRounds = rounds(500);

test(`parses ${fuzzRounds} random project files`, { timeout: 60_000 + fuzzRounds * 20 }, () => {
  let accepted = 0;
  fc.assert(
    fc.property(text, fc.boolean(), (content, withFiles) => {
      const bytes = Buffer.from(content);
      const files = new Set(["agents/triage.ts", "workflows/nightly.ts"]);
      const { definition, problems } = parseProjectFile(bytes, withFiles ? { files } : {});
      if (definition !== null) {
        accepted++;
        expect(problems).toEqual([]);
        // The store needs plain JSON.
        expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
        return;
      }
      expect(problems.length).toBeGreaterThan(0);
      const sources = bytes
        .toString("utf8")
        .replace(/^\ufeff/, "")
        .split("\n");
      for (const { line, column, message, source } of problems) {
        expect(message).not.toMatch(/undefined|\[object|NaN(?!")/);
        expect(line).toBeGreaterThanOrEqual(1);
        expect(column).toBeGreaterThanOrEqual(1);
        expect(column).toBeLessThanOrEqual(source.length + 1);
        if (source !== "") expect(sources[line - 1]?.replace(/\r$/, "")).toBe(source);
        const shown = formatProblem("svc-project.yaml", { line, column, message, source });
        expect(shown.split("\n").slice(1).join("")).not.toMatch(/\p{Cc}/u);
      }
    }),
    { numRuns: fuzzRounds },
  );
  expect(accepted).toBeGreaterThan(fuzzRounds / 100);
});

/** Repeats a few fragments, where a parser that is not linear shows its cost. */
const repetitive = fc
  .tuple(
    fc.array(fc.oneof(token, fc.constantFrom(...lines)), { minLength: 1, maxLength: 3 }),
    fc.array(
      fc.oneof(
        token,
        fc.constantFrom(...lines).map((line) => `${line}\n`),
      ),
      { minLength: 1, maxLength: 4 },
    ),
    fc.integer({ min: 1, max: 256 * 1024 }),
    fc.boolean(),
  )
  .map(([start, unit, bytes, numbered]) => {
    const repeated = unit.join("");
    const parts: string[] = start.concat("\n");
    for (let index = 0, length = 0; length < bytes; index++) {
      const part = numbered ? repeated.replace(/[a-z]+/, (word) => `${word}${index}`) : repeated;
      length += Buffer.byteLength(part);
      parts.push(part);
    }
    return parts.join("");
  });
const costRounds = rounds(30);

test(`parses ${costRounds} repetitive files in bounded time`, { timeout: 60_000 + costRounds * 200 }, () => {
  fc.assert(
    fc.property(repetitive, (content) => {
      const bytes = Buffer.from(content);
      const before = process.cpuUsage();
      parseProjectFile(bytes);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(1.5);
    }),
    { numRuns: costRounds },
  );
});
