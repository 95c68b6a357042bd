/** Converts messages of the contract to plain objects: times to `Date`, JSON values to themselves. */
import { type DescField, type DescMessage, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import {
  type Duration,
  DurationSchema,
  durationMs,
  type Timestamp,
  TimestampSchema,
  timestampDate,
  type Value,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";

/** The plain object of a message. Durations become milliseconds. */
export type Plain<T> = T extends Timestamp
  ? Date
  : T extends Duration
    ? number
    : T extends Value
      ? JsonValue
      : T extends readonly (infer Item)[]
        ? Plain<Item>[]
        : T extends Message
          ? { [Key in keyof T as Key extends "$typeName" | "$unknown" ? never : Key]: Plain<T[Key]> }
          : T;

/** Fields of oneofs are left out: no converted message has one. */
export function plain<T extends Message>(schema: DescMessage, message: T): Plain<T> {
  const fields = message as unknown as Record<string, unknown>;
  const result: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const value = fields[field.localName];
    if (field.oneof !== undefined || value === undefined) continue;
    result[field.localName] =
      field.fieldKind === "list"
        ? (value as unknown[]).map((item) => convert(field, item))
        : convert(field, value);
  }
  return result as Plain<T>;
}

function convert(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "map" || field.message === undefined) return value;
  switch (field.message.typeName) {
    case TimestampSchema.typeName:
      return timestampDate(value as Timestamp);
    case DurationSchema.typeName:
      return durationMs(value as Duration);
    case ValueSchema.typeName:
      return toJson(ValueSchema, value as Value, jsonOptions);
    case "google.protobuf.Struct":
      return value;
    default:
      return plain(field.message, value as Message);
  }
}

const jsonOptions = {};
