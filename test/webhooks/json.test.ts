import { isUtf8 } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonResult, parseJsonObject } from "../../server/webhooks/json.ts";

const limits = { depth: 64 };

function parse(text: string, depth = 64): JsonResult {
  return parseJsonObject(Buffer.from(text), { depth });
}

function codeOf(result: JsonResult): string {
  return result.ok ? "ok" : result.code;
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function hasInfinity(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(hasInfinity);
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

/** What must come of a text, from `JSON.parse` and a walk over what it gives. */
function expected(text: string, depth: number): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "not_json";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "not_object";
  if (depthOf(value) > depth) return "too_deep";
  return hasInfinity(value) ? "number_too_large" : "ok";
}

/** JSON as it is written and as it is not: strings full of marks, numbers of every form, any spacing. */
const hardString = fc
  .array(
    fc.constantFrom("\\\\", '\\"', "\\u007b", "{", "[", "]", "}", "é", "日", "1e999", "x".repeat(40), "\\n"),
    {
      maxLength: 12,
    },
  )
  .map((parts) => `"${parts.join("")}"`);
const hardNumber = fc.constantFrom(
  "0",
  "-0",
  "1e999",
  "-1E400",
  "1e308",
  "1.7976931348623157e308",
  "1e-999",
  "9007199254740993",
  "9".repeat(308),
  "9".repeat(309),
  `-${"8".repeat(400)}`,
  `0.${"3".repeat(400)}`,
  `1${"0".repeat(307)}`,
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 9, withCrossShrink: true },
    fc.oneof(hardString, hardNumber, fc.constantFrom("true", "false", "null", "")),
    fc.array(tie("json"), { maxLength: 4 }).map((items) => `[${items.join(" ,")}]`),
    fc.array(fc.tuple(hardString, tie("json")), { maxLength: 4 }).map((members) => {
      return `{\n${members.map(([key, value]) => `${key}: ${value}`).join(",")}}`;
    }),
  ),
}));

describe("parsing", () => {
  test("agrees with JSON.parse about everything that is well-formed, and about the rest by code", () => {
    let accepted = 0;
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 8 }), (text, depth) => {
        const result = parse(String(text), depth);
        const code = expected(String(text), depth);
        // What is neither well-formed nor shallow may be called either.
        if (code === "not_json") expect(["not_json", "too_deep"]).toContain(codeOf(result));
        else expect(codeOf(result)).toBe(code);
        if (!result.ok) return;
        accepted++;
        expect(result.value).toEqual(JSON.parse(String(text)));
        expect(result.text).toBe(text);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test("any bytes: UTF-8 or not as node:buffer says, and never a throw", () => {
    const member = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(member, (raw) => {
        const body = Buffer.concat([Buffer.from('{"a":"'), raw, Buffer.from('"}')]);
        const result = parseJsonObject(body, limits);
        if (!isUtf8(body)) expect(["not_utf8", "too_deep"]).toContain(codeOf(result));
        else expect(codeOf(result)).toBe(expected(body.toString(), 64));
      }),
      { numRuns: 2000 },
    );
  });

  test("reads a view into a larger buffer, and a plain Uint8Array", () => {
    const pool = Buffer.from('xxx{"a":[1]}yyy');
    expect(parseJsonObject(pool.subarray(3, 12), limits)).toMatchObject({ ok: true, value: { a: [1] } });
    expect(parseJsonObject(new Uint8Array(pool.subarray(3, 12)), limits)).toMatchObject({ ok: true });
  });
});

describe("nesting", () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

  test("the limit is allowed, one more is not, closed and opened again counts once", () => {
    expect(codeOf(parse(nested(64)))).toBe("ok");
    expect(codeOf(parse(nested(65)))).toBe("too_deep");
    expect(
      codeOf(parse(`{"a":${"[".repeat(63)}${"]".repeat(63)},"b":${"[".repeat(63)}${"]".repeat(63)}}`)),
    ).toBe("ok");
    expect(codeOf(parse(`{"a":[${"[],".repeat(5000)}[]]}`))).toBe("ok");
    expect(codeOf(parse(`{"a":"${"[{".repeat(500)}\\"[[[${"[{".repeat(500)}"}`))).toBe("ok");
  });

  test.each(["[", '{"a":', '[{"":', "[\n"])("a megabyte of %j is refused unparsed", (unit) => {
    const bomb = Buffer.alloc(1024 ** 2, unit);
    const startMs = performance.now();
    expect(codeOf(parseJsonObject(bomb, limits))).toBe("too_deep");
    expect(performance.now() - startMs).toBeLessThan(50);
  });

  test.each(['"', '\\"', '"\\', "\\", "9", '"a', "1e5,", `${"x".repeat(31)}\\"`, `${"9".repeat(308)},`])(
    "a megabyte of %j takes no longer than its size explains",
    (unit) => {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(1024 ** 2, unit)]);
      const bare = Buffer.concat([Buffer.from('{"a":'), Buffer.alloc(1024 ** 2, unit)]);
      const startMs = performance.now();
      for (const each of [body, bare]) expect(codeOf(parseJsonObject(each, limits))).toBe("not_json");
      expect(performance.now() - startMs).toBeLessThan(500);
    },
  );
});

describe("what JSON leaves open", () => {
  test("a byte order mark is dropped, one only", () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ ok: true, value: { a: 1 }, text: '{"a":1}' });
    expect(codeOf(parse('\ufeff\ufeff{"a":1}'))).toBe("not_json");
  });

  test("the last of several members counts, __proto__ is a name", () => {
    expect(parse('{"a":1,"a":2}')).toMatchObject({ ok: true, value: { a: 2 } });
    const result = parse('{"__proto__":{"admin":true},"constructor":1}');
    if (!result.ok) throw new Error(result.message);
    expect(Object.keys(result.value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect((result.value as { admin?: unknown }).admin).toBeUndefined();
  });

  test("integers over 2^53 become the nearest double, and the text keeps them", () => {
    const result = parse('{"id":12345678901234567890}');
    expect(result).toEqual({
      ok: true,
      value: { id: 12345678901234567000 },
      text: '{"id":12345678901234567890}',
    });
  });

  test("lone surrogates: escaped they stay, as bytes they are no UTF-8", () => {
    expect(parse('{"a":"\\ud800"}')).toMatchObject({ ok: true, value: { a: "\ud800" } });
    const bytes = Buffer.from([...Buffer.from('{"a":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]);
    expect(codeOf(parseJsonObject(bytes, limits))).toBe("not_utf8");
  });

  test.each([
    ["", "not_json"],
    ["null", "not_object"],
    ["[1]", "not_object"],
    ['"x"', "not_object"],
    ["1e999", "not_object"],
    ["{'a':1}", "not_json"],
    ["{} {}", "not_json"],
    ['{"a":NaN}', "not_json"],
    ['{"a":1e999}', "number_too_large"],
    [`{"a":${"9".repeat(309)}}`, "number_too_large"],
    [`{"a":${"1".repeat(309)}}`, "ok"],
  ])("%s is %s, in one sentence", (text, code) => {
    const result = parse(text);
    expect(codeOf(result)).toBe(code);
    if (!result.ok) expect(result.message).toMatch(/^The body must .*\.$/);
  });
});
