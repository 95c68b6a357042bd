import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "vitest";
import { type JsonResult, parseJsonObject } from "../../server/webhooks/json.ts";
import fc from "../support/property.ts";
import { usedMs } from "../support/used-time.ts";

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

function isRounded(literal: string): boolean {
  if (!/^-?\d+$/.test(literal)) return false;
  const value = Number(literal);
  return !Number.isFinite(value) || BigInt(value) !== BigInt(literal);
}

/** Whether the value of the text has an integer that is not exact as a double. */
function hasRounded(text: string): boolean {
  let found = false;
  JSON.parse(text, (_name: string, value: unknown, context?: { source?: string }) => {
    if (isRounded(context?.source ?? "")) found = true;
    return value;
  });
  return found;
}

/** Like `hasRounded`, with members that a later one of the same name overwrites. */
function hasRoundedLiteral(text: string): boolean {
  const literals = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").match(/-?\d[\d.eE+-]*/g) ?? [];
  return literals.some(isRounded);
}

function hasInfinity(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.values(value).some(hasInfinity);
  return value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
}

/** The correct results for a text, from `JSON.parse` and a walk over its value. */
function expected(text: string, depth: number): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return ["not_json"];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return ["not_object"];
  const violations = [
    ...(depthOf(value) > depth ? ["too_deep"] : []),
    ...(hasInfinity(value) ? ["number_too_large"] : []),
    ...(hasRounded(text) ? ["number_inexact"] : []),
  ];
  const possible = hasRoundedLiteral(text) ? [...violations, "number_inexact"] : violations;
  return violations.length > 0 ? possible : ["ok", ...possible];
}

/** Valid and invalid JSON: strings full of punctuation, numbers of every form, varied spacing. */
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
  "12345678901234567890",
  "-1234567890123456789012",
  "1e20",
  "12345678901234567890.5",
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
  test("agrees with JSON.parse, and names the violated rule", () => {
    let accepted = 0;
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 8 }), (text, depth) => {
        const result = parse(String(text), depth);
        expect(expected(String(text), depth)).toContain(codeOf(result));
        if (!result.ok) return;
        accepted++;
        expect(result.value).toEqual(JSON.parse(String(text)));
        expect(result.text).toBe(text);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  test("accepts exactly the bytes that node:buffer calls UTF-8, and never throws", () => {
    const member = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(member, (raw) => {
        const body = Buffer.concat([Buffer.from('{"a":"'), raw, Buffer.from('"}')]);
        const result = parseJsonObject(body, limits);
        if (!isUtf8(body)) expect(codeOf(result)).toBe("not_utf8");
        else expect(expected(body.toString(), 64)).toContain(codeOf(result));
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

  test("allows the limit and refuses one level more; siblings do not add levels", () => {
    expect(codeOf(parse(nested(64)))).toBe("ok");
    expect(codeOf(parse(nested(65)))).toBe("too_deep");
    expect(
      codeOf(parse(`{"a":${"[".repeat(63)}${"]".repeat(63)},"b":${"[".repeat(63)}${"]".repeat(63)}}`)),
    ).toBe("ok");
    expect(codeOf(parse(`{"a":[${"[],".repeat(5000)}[]]}`))).toBe("ok");
    expect(codeOf(parse(`{"a":"${"[{".repeat(500)}\\"[[[${"[{".repeat(500)}"}`))).toBe("ok");
  });

  test.each([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"":', "}]"],
  ])("refuses a megabyte of nested %j without exhausting the stack", (open, close) => {
    const levels = Math.floor(2 ** 20 / (open.length + close.length)) - 8;
    const nested = `{"a":${open.repeat(levels)}1${close.repeat(levels)}}`;
    expect(codeOf(parse(nested))).toBe("too_deep");
    expect(codeOf(parse(open.repeat(2 ** 20 / open.length)))).toBe("not_json");
  });

  test.each(['"', '\\"', '"\\', "\\", "9", '"a', "1e5,", `${"x".repeat(31)}\\"`, `${"9".repeat(308)},`])(
    "refuses a megabyte of %j in linear time",
    (unit) => {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(1024 ** 2, unit)]);
      const bare = Buffer.concat([Buffer.from('{"a":'), Buffer.alloc(1024 ** 2, unit)]);
      const used = usedMs(() => {
        for (const each of [body, bare]) expect(codeOf(parseJsonObject(each, limits))).toBe("not_json");
      });
      expect(used).toBeLessThan(500);
    },
  );
});

describe("the cases that RFC 8259 leaves open", () => {
  test("drops one byte order mark", () => {
    expect(parse('\ufeff{"a":1}')).toEqual({ ok: true, value: { a: 1 }, text: '{"a":1}' });
    expect(codeOf(parse('\ufeff\ufeff{"a":1}'))).toBe("not_json");
  });

  test("keeps the last of duplicate members and treats __proto__ as an ordinary name", () => {
    expect(parse('{"a":1,"a":2}')).toMatchObject({ ok: true, value: { a: 2 } });
    const result = parse('{"__proto__":{"admin":true},"constructor":1}');
    if (!result.ok) throw new Error(result.message);
    expect(Object.keys(result.value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect((result.value as { admin?: unknown }).admin).toBeUndefined();
  });

  test("refuses integers that a double rounds, with their path", () => {
    expect(parse('{"a":[{"id":12345678901234567890}]}')).toEqual({
      ok: false,
      code: "number_inexact",
      message: "The integer at a[0].id is beyond 2^53 - 1 and would lose digits; send it as a string.",
    });
  });

  test.each([
    ['{"id":-9007199254740993}', "id"],
    ['{"id":1234567890123456789012}', "id"],
    ['{"ids":["1,2\\\\",{"a\\"b":[0,{},-99999999999999999999999]}]}', 'ids[1].a"b[2]'],
    ['{"a":{"x":1},"b":[[],12345678901234567]}', "b[1]"],
    ['{"":{"a.b":12345678901234567}}', ".a.b"],
    [`{"a":${"1".repeat(309)}}`, "a"],
  ])("names the integer that a double rounds: %s", (text, path) => {
    const result = parse(text);
    expect([codeOf(result), result.ok ? "" : result.message]).toEqual([
      "number_inexact",
      `The integer at ${path} is beyond 2^53 - 1 and would lose digits; send it as a string.`,
    ]);
  });

  test.each([
    "9007199254740991",
    "-9007199254740992",
    "100000000000000000000",
    "10000000000000000000000",
    "1e20",
    "1.5e300",
    "-1E+22",
    "0.12345678901234567",
    "12345678901234567.0",
    '"12345678901234567890"',
    '"\\\\\\"[12345678901234567890]"',
  ])("accepts %s, which is exact, a measurement or a string", (value) => {
    expect(codeOf(parse(`{"a":[1,${value}],"b":{"c":${value}}}`))).toBe("ok");
  });

  test("keeps an escaped lone surrogate and refuses one in the bytes", () => {
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
  ])("%s is %s, with one sentence for the sender", (text, code) => {
    const result = parse(text);
    expect(codeOf(result)).toBe(code);
    if (!result.ok) expect(result.message).toMatch(/^The body must .*\.$/);
  });
});
