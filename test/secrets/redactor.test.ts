/** The search for secret values, compared with a simple reference. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Redactor } from "../../server/secrets/redactor.ts";
import { Redactors } from "../../server/secrets/redactors.ts";
import fc from "../support/property.ts";
import { usedMs } from "../support/used-time.ts";

const redactor = (...values: string[]) => new Redactor(values);

test("replaces every occurrence of every value", () => {
  const both = redactor("hunter22", "s3cr3t-token");
  expect(both.redact("a hunter22, b s3cr3t-token c hunter22")).toBe("a ***, b *** c ***");
  expect(both.redact("hunter2 s3cr3t-toke")).toBe("hunter2 s3cr3t-toke");
  expect(both.redact("")).toBe("");
});

test("keeps values of fewer than four characters", () => {
  expect(redactor("abc").redact("abc abcd")).toBe("abc abcd");
  expect(redactor("abcd").redact("abc abcd")).toBe("abc ***");
});

test("leaves no part of overlapping values", () => {
  expect(redactor("abcdef", "defghi").redact("1abcdefghi2")).toBe("1***2");
  expect(redactor("abcd", "abcdefgh").redact("abcdefgh abcdefg")).toBe("*** ***efg");
  expect(redactor("aaaa").redact("baaaaaab")).toBe("b***b");
});

test("replaces the JSON form of a value, also in JSON inside JSON", () => {
  const value = 'pass"word\\\n1';
  const entry = { token: value, nested: JSON.stringify({ token: value }) };
  expect(redactor(value).redact(JSON.stringify(entry))).toBe(
    '{"token":"***","nested":"{\\"token\\":\\"***\\"}"}',
  );
  expect(JSON.parse(redactor(value).redactJson(JSON.stringify(entry)))).toEqual({
    token: "***",
    nested: '{"token":"***"}',
  });
});

test("replaces the form that console.log prints in objects", () => {
  const value = 'pass"word\\1';
  expect(redactor(value).redact(inspect({ value }))).toBe("{ value: '***' }");
});

test("keeps JSON valid when a value matches its structure", () => {
  const json = JSON.stringify({ a: [true, null, 12345678, 123456789], "b\nabc": "12345678!" });
  expect(redactor("true", "null", '":"', "],[]", ":[true").redactJson(json)).toBe(json);
  // In the text, `nabc` follows the backslash of an escape.
  expect(redactor("nabc").redactJson(json)).toBe(json);
  expect(JSON.parse(redactor("12345678").redactJson(json))).toEqual({
    a: [true, null, "***", 123456789],
    "b\nabc": "***!",
  });
  expect(redactor("b\nabc").redactJson('{"b\\nabc":1e400}')).toBe('{"***":1e400}');
});

test("agrees with a simple search", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é", '"', "\\", "\n", "1", "𝄞"), maxLength: 40 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), fc.array(text, { maxLength: 4 }), (values, parts) => {
      const plain = parts.join("|");
      const subject = redactor(...values);
      expect(subject.redact(plain)).toBe(simple(values, plain));
      const json = JSON.stringify({ [plain]: [plain, 1.5], parts });
      const redacted = JSON.parse(subject.redactJson(json));
      expect(redacted).toEqual({
        [simple(values, plain)]: [simple(values, plain), 1.5],
        parts: parts.map((part) => simple(values, part)),
        ...(simple(values, plain) === "parts" && {}),
      });
    }),
    { numRuns: 2_000 },
  );
});

test("takes time in proportion to the text, whatever the values", () => {
  const long = "a".repeat(60_000);
  const values = Array.from({ length: 100 }, (_, index) => `${long}${index}`);
  const hostile = new Redactor(values);
  let json = "";
  const took = usedMs(() => {
    json = hostile.redactJson(JSON.stringify(["a".repeat(4_000_000)]));
  });
  expect(took).toBeLessThan(5_000);
  // The search gives up and redacts the rest.
  expect(JSON.parse(json)).toEqual(["***"]);
});

test("finds values among texts that begin like them", () => {
  const keys = Array.from({ length: 100 }, (_, index) => `-----BEGIN PRIVATE KEY-----\nMIIEv${index}X`);
  const banner = `${"-".repeat(10_000)}\n`;
  expect(redactor(...keys).redact(`${banner}${keys[7]}\n${banner}`)).toBe(`${banner}***\n${banner}`);
});

test("keeps replaced values of an organization", () => {
  const redactors = new Redactors();
  redactors.add("org_1", { A: "first-value" });
  redactors.add("org_1", { A: "second-value" });
  redactors.add("org_2", {});
  expect(redactors.of("org_1")?.redact("first-value second-value")).toBe("*** ***");
  expect(redactors.of("org_2")).toBeUndefined();
  expect(redactors.of("org_3")).toBeUndefined();
  for (let n = 0; n < 200; n++) redactors.add("org_1", { A: `value-${n}-`, B: "constant" });
  expect(redactors.of("org_1")?.redact("first-value value-0- value-150- value-199- constant")).toBe(
    "first-value value-0- *** *** ***",
  );
});

/** Marks each character of each occurrence. */
function simple(values: readonly string[], text: string): string {
  const hidden = new Set<number>();
  const forms = values
    .filter((value) => value.length >= 4)
    .flatMap((value) => {
      const inspected = escaped(value).replaceAll('\\"', '"');
      return [value, inspected, escaped(value), escaped(inspected), escaped(escaped(value))];
    });
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
      for (let index = at; index < at + form.length; index++) hidden.add(index);
    }
  }
  let result = "";
  for (let index = 0; index < text.length; index++) {
    if (!hidden.has(index)) result += text[index];
    else if (!hidden.has(index - 1)) result += "***";
  }
  return result;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
