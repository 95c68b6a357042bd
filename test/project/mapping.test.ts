import { describe, expect, test } from "vitest";
import type { FieldMapping } from "../../project/definition.ts";
import type { JsonObject, JsonValue } from "../../project/json.ts";
import { compileMapping } from "../../project/mapping.ts";
import { parsePath } from "../../project/path.ts";
import fc from "../support/property.ts";
import { rounds } from "../support/rounds.ts";

function apply(mapping: Record<string, string>, payload: string): { input: JsonObject; unmapped: string[] } {
  return compileMapping(pairs(mapping)).apply(JSON.parse(payload));
}

function pairs(mapping: Record<string, string>): FieldMapping {
  return Object.entries(mapping).map(([path, parameter]) => ({ path, parameter }));
}

describe("mapping", () => {
  test("resolves plain, dotted and indexed keys and keeps the type of values", () => {
    const mapping = {
      id: "order_id",
      "customer.email": "email",
      "items[0].sku": "sku",
      "m[1][0]": "cell",
      n: "none",
    };
    const payload =
      '{"id":7,"customer":{"email":"a@b"},"items":[{"sku":"x"}],"m":[[],[true]],"n":null,"rest":1}';
    expect(apply(mapping, payload)).toEqual({
      input: { order_id: 7, email: "a@b", sku: "x", cell: true, none: null },
      unmapped: [],
    });
  });

  test("uses the payload as input when it is empty", () => {
    const payload = { a: 1 };
    const { input, unmapped } = compileMapping([]).apply(payload);
    expect(input).toBe(payload);
    expect(unmapped).toEqual([]);
  });

  test("prefers a property named like the whole key", () => {
    expect(apply({ "a.b": "x" }, '{"a.b":1,"a":{"b":2}}').input).toEqual({ x: 1 });
    expect(apply({ "a[0]": "x" }, '{"a[0]":null,"a":[2]}').input).toEqual({ x: null });
  });

  test("omits and lists paths without a value, in the order of the mapping", () => {
    const mapping = {
      "z.z": "z",
      a: "a",
      "b[2]": "b",
      "b.length": "l",
      "s[0]": "s",
      "s.length": "t",
      "o[0]": "o",
      "b.0": "c",
      "n.x": "n",
    };
    const payload = '{"b":[1,2],"s":"text","o":{"0":1},"n":null}';
    const { input, unmapped } = apply(mapping, payload);
    expect(input).toEqual({});
    expect(unmapped).toEqual(Object.keys(mapping));
  });
});

describe("prototypes", () => {
  const inherited = [
    "__proto__",
    "constructor",
    "toString",
    "constructor.name",
    "__proto__.polluted",
    "a.constructor",
    "a.__proto__",
  ];
  test.each(inherited)("does not read the inherited %s", (path) => {
    expect(apply({ [path]: "x" }, '{"a":{}}')).toEqual({ input: {}, unmapped: [path] });
  });

  test("reads such names as data of the payload", () => {
    const payload = '{"__proto__":{"a":1},"constructor":"c","x":{"__proto__":[5]}}';
    const mapping = compileMapping([
      { path: "__proto__.a", parameter: "a" },
      { path: "constructor", parameter: "constructor" },
      { path: "x.__proto__[0]", parameter: "__proto__" },
    ]);
    const { input } = mapping.apply(JSON.parse(payload));
    expect(JSON.stringify(input)).toBe('{"a":1,"constructor":"c","__proto__":5}');
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  test("does not set a prototype through a parameter __proto__", () => {
    const { input } = compileMapping([{ path: "p", parameter: "__proto__" }]).apply({ p: { admin: true } });
    expect(Object.keys(input)).toEqual(["__proto__"]);
    expect((input as { admin?: unknown }).admin).toBeUndefined();
  });
});

describe("paths", () => {
  test.each([
    ["a", ["a"]],
    ["a.b.c", ["a", "b", "c"]],
    ["a[0]", ["a", 0]],
    ["a[10][2].b", ["a", 10, 2, "b"]],
    ["a b.c-d", ["a b", "c-d"]],
    ["ä.日本", ["ä", "日本"]],
    ["0.1", ["0", "1"]],
    [" ", [" "]],
  ])("%j", (path, steps) => expect(parsePath(path)).toEqual(steps));

  test.each([
    ["", 1, "a name is missing"],
    [".", 1, "a name is missing"],
    ["a.", 3, "a name is missing"],
    ["a..b", 3, "a name is missing"],
    [".a", 1, "a name is missing"],
    ["[0]", 1, "a path begins with a name"],
    ["a.[0]", 3, "a name is missing"],
    ["a[", 2, '"[" is never closed'],
    ["a[0", 2, '"[" is never closed'],
    ["a[]", 3, 'an index is a whole number without leading zeros, not ""'],
    ["a[01]", 3, 'an index is a whole number without leading zeros, not "01"'],
    ["a[-1]", 3, 'an index is a whole number without leading zeros, not "-1"'],
    ["a[b]", 3, 'an index is a whole number without leading zeros, not "b"'],
    ["a[0]b", 5, 'expected "." or "[", not "b"'],
    ["a]", 2, 'expected "." or "[", not "]"'],
    ["a[0].", 6, "a name is missing"],
  ])("rejects %j at character %i", (path, character, reason) => {
    expect(() => parsePath(path)).toThrow(
      `Cannot read the path "${path}" at character ${character}: ${reason}.`,
    );
  });
});

test("traces each entry to its value or to the first missing step", () => {
  const mapping = compileMapping(
    pairs({ "a.b": "x", k: "k", "l[3].m": "y", "n.o": "z", "p.q": "w", r: "v", "l.m": "u", "s[0]": "t" }),
  );
  const trace = mapping.trace({ "a.b": [1], k: null, l: [1, 2], n: null, p: {}, s: { "0": 1 } });
  const none = { found: false, type: null, reading: "path" };
  expect(trace).toEqual([
    {
      path: "a.b",
      parameter: "x",
      found: true,
      type: "array",
      reading: "key",
      stoppedAt: null,
      because: null,
    },
    { path: "k", parameter: "k", found: true, type: "null", reading: "path", stoppedAt: null, because: null },
    { path: "l[3].m", parameter: "y", ...none, stoppedAt: "l[3]", because: "l has 2 elements" },
    { path: "n.o", parameter: "z", ...none, stoppedAt: "n.o", because: "n is null, not an object" },
    { path: "p.q", parameter: "w", ...none, stoppedAt: "p.q", because: "p has no such member" },
    { path: "r", parameter: "v", ...none, stoppedAt: "r", because: "the payload has no such member" },
    { path: "l.m", parameter: "u", ...none, stoppedAt: "l.m", because: "l is an array, not an object" },
    { path: "s[0]", parameter: "t", ...none, stoppedAt: "s[0]", because: "s is an object, not an array" },
  ]);
});

/** A direct implementation of the documented rules. */
function byTheBook(
  mapping: FieldMapping,
  payload: JsonObject,
): { input: [string, JsonValue][]; unmapped: string[] } {
  const input = new Map<string, JsonValue>();
  const unmapped: string[] = [];
  for (const { path, parameter } of mapping) {
    const own = (holder: object, name: string | number): JsonValue | undefined =>
      Object.getOwnPropertyDescriptor(holder, name)?.value;
    let value = own(payload, path);
    if (value === undefined) {
      value = payload;
      for (const token of path.match(/[^.[\]]+|\[\d+\]/g) ?? []) {
        const index = /^\[(\d+)\]$/.exec(token)?.[1];
        const holder: JsonValue | undefined = value;
        value = undefined;
        if (index !== undefined && Array.isArray(holder)) value = own(holder, index);
        if (index === undefined && typeof holder === "object" && holder !== null && !Array.isArray(holder))
          value = own(holder, token);
      }
    }
    if (value === undefined) unmapped.push(path);
    else input.set(parameter, value);
  }
  return { input: [...input], unmapped };
}

test("agrees with a direct implementation of the rules on random payloads, and so does the trace", () => {
  const name = fc.constantFrom(
    "a",
    "b",
    "__proto__",
    "constructor",
    "length",
    "0",
    "a.b",
    "a[0]",
    "toString",
  );
  const payload = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<JsonValue>(null, true, 0, "text", ""),
      tie("object"),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
    // Parsed from text like payloads, because only then is `__proto__` a property.
    object: fc.array(fc.tuple(name, tie("value")), { maxLength: 5 }).map((members) => {
      return JSON.parse(
        `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",")}}`,
      );
    }),
  })).object;
  const step = fc.oneof(
    fc.constantFrom("a", "b", "__proto__", "constructor", "length", "0").map((text) => `.${text}`),
    fc.constantFrom("[0]", "[1]", "[2]"),
  );
  const path = fc
    .tuple(
      name.filter((text) => !/[.[]/.test(text)),
      fc.array(step, { maxLength: 3 }),
    )
    .map(([first, rest]) => first + rest.join(""));
  const parameter = fc.constantFrom("x", "y", "__proto__", "constructor", "1", "0");
  const mapping = fc.uniqueArray(fc.record({ path, parameter }), {
    minLength: 1,
    maxLength: 5,
    selector: (one) => one.parameter,
  });
  let found = 0;
  fc.assert(
    fc.property(mapping, payload, (entries, value) => {
      const compiled = compileMapping(entries);
      const before = JSON.stringify(value);
      const { input, unmapped } = compiled.apply(value);
      const expected = byTheBook(entries, value);
      expect(sortedText(Object.entries(input))).toBe(sortedText(expected.input));
      expect(unmapped).toEqual(expected.unmapped);
      expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
      expect(JSON.stringify(value)).toBe(before);
      const traced = compiled.trace(value);
      expect(traced.filter((entry) => !entry.found).map((entry) => entry.path)).toEqual(unmapped);
      found += expected.input.length;
    }),
    { numRuns: rounds(2000) },
  );
  expect(found).toBeGreaterThan(rounds(2000) / 10);
});

/** As JSON, because a payload may have a `toString` that is not callable. */
function sortedText(members: readonly [string, JsonValue][]): string {
  return JSON.stringify(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
