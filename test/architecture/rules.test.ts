/** The checks of requests against the reference implementation of buf.validate. */
import { create, type DescField, type DescMessage, hasOption } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createValidator } from "@bufbuild/protovalidate";
import * as original from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import * as own from "../../proto/buf/validate/validate_pb.ts";
import { services } from "../../server/services/index.ts";
import { compile } from "../../server/services/validation/compile.ts";
import fc from "../support/property.ts";

test("proto/buf/validate is a part of the original", () => {
  const pairs = [
    [own.FieldRulesSchema, original.FieldRulesSchema],
    [own.StringRulesSchema, original.StringRulesSchema],
    [own.Int32RulesSchema, original.Int32RulesSchema],
    [own.Int64RulesSchema, original.Int64RulesSchema],
    [own.UInt32RulesSchema, original.UInt32RulesSchema],
    [own.TimestampRulesSchema, original.TimestampRulesSchema],
  ] as const;
  const shapeOf = ({ name, number, scalar, message, enum: values, fieldKind }: DescField) =>
    `${name} ${number} ${fieldKind} ${scalar ?? message?.typeName ?? values?.typeName}`;
  for (const [part, whole] of pairs) {
    expect(part.typeName).toBe(whole.typeName);
    const known = whole.fields.map(shapeOf);
    expect(part.fields.map(shapeOf).filter((shape) => !known.includes(shape))).toEqual([]);
  }
  expect([own.field.number, own.field.extendee.typeName]).toEqual([1159, "google.protobuf.FieldOptions"]);
  for (const { name, number } of own.IgnoreSchema.values) {
    expect(original.IgnoreSchema.values).toContainEqual(expect.objectContaining({ name, number }));
  }
});

const inputs = services
  .flatMap(({ methods }) => methods.map(({ input }) => input))
  .filter(({ fields }) => fields.some((field) => hasOption(field, own.field)));
const texts = [
  "",
  " ",
  "..",
  "a b",
  "production",
  "agent",
  "failed",
  "active",
  "full",
  "output",
  "accepted",
  "0".repeat(64),
  "A".repeat(64),
  "x".repeat(65),
  "ü".repeat(100),
  "𝒙".repeat(100),
  "x".repeat(101),
  "x".repeat(1025),
  "ü".repeat(32_769),
];
const numbers = [-1, 0, 1, 1000, 10_000];

/** Values of a field; undefined leaves it out. */
function valuesOf(field: DescField): fc.Arbitrary<unknown> {
  switch (field.scalar) {
    case 9:
      return fc.constantFrom(...texts);
    case 3:
      return fc.constantFrom(-1n, 0n, 1n, 2n ** 62n);
    case 5:
      return fc.constantFrom(...numbers);
    case 13:
      return fc.constantFrom(undefined, 0, 10_000, 10_001);
  }
  if (field.message?.typeName !== "google.protobuf.Timestamp") return fc.constant(undefined);
  return fc.constantFrom(undefined, timestampFromMs(0), timestampFromMs(Date.now() + 3_600_000));
}

describe("the checks agree with the reference", () => {
  const reference = createValidator();

  test.each(inputs.map((input) => [input.name, input] as const))("for %s", (_name, input: DescMessage) => {
    const check = compile(input);
    const fields = Object.fromEntries(input.fields.map((field) => [field.localName, valuesOf(field)]));
    fc.assert(
      fc.property(fc.record(fields), (values) => {
        const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
        const message = create(input, set);
        const expected = new Map<string, string[]>();
        for (const { field, ruleId } of reference.validate(input, message).violations ?? []) {
          const [place] = field;
          const name = place?.kind === "field" ? place.name : "";
          expected.set(name, [...(expected.get(name) ?? []), ruleId.toUpperCase().replaceAll(".", "_")]);
        }
        const found = check(message as Parameters<typeof check>[0]);
        expect(found.map(({ field }) => field)).toEqual([...expected.keys()]);
        for (const { field, reason } of found) expect(expected.get(field)).toContain(reason);
      }),
      { numRuns: 60 },
    );
  });
});
