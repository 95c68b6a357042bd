/** The supported rules of buf.validate: for each, its identifier, its text in errors, and its check. */
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { nameRule } from "../../../project/names.ts";
import type {
  FieldRules,
  Int32Rules,
  Int64Rules,
  StringRules,
  UInt32Rules,
} from "../../../proto/buf/validate/validate_pb.ts";

export interface Rule {
  /** The rule's name in upper case, for example `STRING_MAX_LEN`. */
  id: string;
  /** The end of a sentence "it must be …". */
  text: string;
  /** Whether an error shows the value. A time or a long text does not help. */
  showsValue: boolean;
  allows(value: unknown): boolean;
}

/** Patterns of the contract in words. */
const patternTexts: Record<string, string> = {
  "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$": nameRule,
  "^[0-9a-f]{64}$": "a SHA-256 in 64 lower-case hexadecimal digits",
  "\\S": "text that is not blank",
};

/** @throws the result of `unsupported` when there are none */
export function rulesOf({ required, type }: FieldRules, unsupported: () => Error): Rule[] {
  switch (type.case) {
    case undefined:
      if (!required) throw unsupported();
      return [];
    case "string":
      return stringRules(type.value, unsupported);
    case "int32":
    case "int64":
    case "uint32":
      return numberRules(type.case.toUpperCase(), type.value, unsupported);
    case "timestamp": {
      const { $unknown, greaterThan } = type.value;
      if ($unknown !== undefined || greaterThan.case !== "gtNow") throw unsupported();
      const allows = (value: unknown) => timestampMs(value as Timestamp) > Date.now();
      return [{ id: "TIMESTAMP_GT_NOW", text: "in the future", showsValue: false, allows }];
    }
  }
}

function stringRules(rules: StringRules, unsupported: () => Error): Rule[] {
  if (rules.$unknown !== undefined) throw unsupported();
  const found: Rule[] = [];
  const add = (id: string, text: string, showsValue: boolean, allows: (value: string) => boolean): void => {
    found.push({ id: `STRING_${id}`, text, showsValue, allows: (value) => allows(String(value)) });
  };
  const { minLen, maxLen, maxBytes, pattern } = rules;
  if (minLen > 0n) {
    add("MIN_LEN", `at least ${minLen} characters long`, true, (value) => lengthOf(value) >= minLen);
  }
  if (maxLen > 0n) {
    const isShort = (value: string) => value.length <= maxLen || lengthOf(value) <= maxLen;
    add("MAX_LEN", `at most ${maxLen} characters long`, false, isShort);
  }
  if (maxBytes > 0n) {
    const isShort = (value: string) => Buffer.byteLength(value) <= maxBytes;
    add("MAX_BYTES", `at most ${maxBytes} bytes of UTF-8`, false, isShort);
  }
  if (pattern !== "") {
    const expression = new RegExp(pattern, "u");
    const text = patternTexts[pattern] ?? `text that matches ${pattern}`;
    add("PATTERN", text, true, (value) => expression.test(value));
  }
  if (rules.in.length > 0) {
    add("IN", `one of ${rules.in.join(", ")}`, true, (value) => rules.in.includes(value));
  }
  return found;
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function numberRules(
  type: string,
  { lessThan, greaterThan, $unknown }: Int32Rules | Int64Rules | UInt32Rules,
  unsupported: () => Error,
): Rule[] {
  const found: Rule[] = [];
  const add = (id: string, text: string, allows: (value: number | bigint) => boolean): void => {
    found.push({
      id: `${type}_${id}`,
      text,
      showsValue: true,
      allows: (value) => allows(value as number | bigint),
    });
  };
  if (lessThan.case === "lte") add("LTE", `at most ${lessThan.value}`, (value) => value <= lessThan.value);
  if (greaterThan.case === "gt") {
    add("GT", `greater than ${greaterThan.value}`, (value) => value > greaterThan.value);
  }
  if (greaterThan.case === "gte") {
    add("GTE", `at least ${greaterThan.value}`, (value) => value >= greaterThan.value);
  }
  if ($unknown !== undefined || found.length === 0) throw unsupported();
  return found;
}
