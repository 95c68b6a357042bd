/** Filters made of random patterns and conditions decide about random requests without errors, and always the same way. */

import { expect, test } from "vitest";
import type { Condition, WebhookDefinition } from "../../project/definition.ts";
import type { JsonObject } from "../../project/json.ts";
import { compilePatterns, patternProblem } from "../../project/webhook/event-pattern.ts";
import { compileFilter } from "../../project/webhook/filter.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

const numRuns = rounds(300);
const name = fc
  .array(fc.constantFrom("a", "b", "*", ".", "/", ":", "é", "__proto__"), { maxLength: 12 })
  .map((parts) => parts.join(""));
const path = fc.constantFrom(
  "a",
  "a.b",
  "a[0]",
  "a[0].b",
  "__proto__",
  "$header.a",
  "$query.b",
  "$path",
  "constructor.name",
);
const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
const payload = fc
  .object({ key: fc.constantFrom("a", "b", "__proto__", "a.b"), maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

/** The meaning of a pattern, as a regular expression. */
function matchesReference(pattern: string, text: string): boolean {
  const parts = pattern.split(/[./:]/);
  const source = parts.map((part, index) => {
    if (part !== "*")
      return part.replace(/[^a-z]/gi, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
    return index === parts.length - 1 ? "[^]*" : "[^./:]*";
  });
  return new RegExp(`^${source.join("[./:]")}$`, "u").test(text);
}

test("a pattern matches as its regular expression does", () => {
  fc.assert(
    fc.property(name, name, (pattern, text) => {
      fc.pre(patternProblem(pattern) === null);
      expect(compilePatterns([pattern])(text)).toBe(matchesReference(pattern, text));
    }),
    { numRuns },
  );
});

test("a filter decides about any request", () => {
  const condition: fc.Arbitrary<Condition> = fc.record(
    {
      path,
      exists: fc.boolean(),
      in: fc.array(scalar, { minLength: 1 }),
      notIn: fc.array(scalar, { minLength: 1 }),
    },
    { requiredKeys: ["path"] },
  );
  const filter = fc.record({
    events: fc.array(
      name.filter((pattern) => patternProblem(pattern) === null),
      { minLength: 1 },
    ),
    event: fc.array(path, { minLength: 1, maxLength: 3 }),
    when: fc.array(condition),
  });
  const sources = fc.record({
    headers: fc.dictionary(fc.constantFrom("a", "b"), fc.string()),
    query: payload,
    path: fc.string(),
  });
  fc.assert(
    fc.property(filter, payload, sources, (keys, value, request) => {
      const plain = { slug: "s", fieldMapping: [], signature: null, idempotency: null, rateLimit: null };
      const definition: WebhookDefinition = { ...plain, ...keys };
      const decide = () => compileFilter(definition)?.ignores(value, request);
      const decision = decide();
      expect(decision === null || typeof decision === "string").toBe(true);
      expect(decide()).toBe(decision);
      // A further condition can only ignore more.
      const fewer = compileFilter({ ...definition, when: keys.when.slice(1) })?.ignores(value, request);
      if (decision === null) expect(fewer).toBeNull();
    }),
    { numRuns },
  );
});
