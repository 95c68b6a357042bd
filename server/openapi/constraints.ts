/** Constraints that the contract declares on fields: `google.api.field_behavior` and the rules of `buf.validate`. */
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as rulesOption,
  type StringRules,
} from "../../proto/buf/validate/validate_pb.ts";
import { FieldBehavior, field_behavior } from "../../proto/google/api/field_behavior_pb.ts";

export interface Constraints {
  required: boolean;
  outputOnly: boolean;
  inputOnly: boolean;
  /** Keywords of JSON Schema. */
  keywords: { [keyword: string]: unknown };
}

export function constraintsOf(field: DescField): Constraints {
  const behaviors = getOption(field, field_behavior);
  const rules = hasOption(field, rulesOption) ? getOption(field, rulesOption) : undefined;
  return {
    required: behaviors.includes(FieldBehavior.REQUIRED) || rules?.required === true,
    outputOnly: behaviors.includes(FieldBehavior.OUTPUT_ONLY),
    inputOnly: behaviors.includes(FieldBehavior.INPUT_ONLY),
    keywords: rules === undefined ? {} : keywordsOf(rules),
  };
}

/** The empty string, which stands for an absent value of many fields, is not offered. */
function keywordsOf({ required, type }: FieldRules): { [keyword: string]: unknown } {
  switch (type.case) {
    case "string":
      return stringKeywords(type.value, required);
    case "int32":
    case "uint32": {
      const { greaterThan, lessThan } = type.value;
      return {
        ...(greaterThan.case === "gte" && { minimum: greaterThan.value }),
        ...(greaterThan.case === "gt" && { exclusiveMinimum: greaterThan.value }),
        ...(lessThan.case === "lte" && { maximum: lessThan.value }),
      };
    }
    case undefined:
      return {};
    default:
      // JSON Schema has no keywords for the range of times, or of integers in strings. The comments name them.
      return {};
  }
}

function stringKeywords(rules: StringRules, required: boolean): { [keyword: string]: unknown } {
  const { minLen, maxLen, maxBytes, pattern, in: words } = rules;
  if (words.length > 0) return { enum: words };
  const min = Math.max(Number(minLen), required ? 1 : 0);
  // A character has at least one byte.
  const max = Number(maxLen) || Number(maxBytes);
  return {
    ...(min > 0 && { minLength: min }),
    ...(max > 0 && { maxLength: max }),
    ...(pattern !== "" && { pattern }),
  };
}
