/** Examples of parameters, requests and responses, built from the values of fields. */
import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { requests, responses } from "./methods.ts";
import { absent, values } from "./values.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The example of a field: its own value, or the value of all fields of that name. */
export function exampleOf(field: DescField): Json | undefined {
  const own = `${field.parent.name}.${field.name}`;
  const value = Object.hasOwn(values, own) ? values[own] : values[field.name];
  return typeof value === "number" ? numberIn(field, value) : value;
}

/** 64-bit integers are strings, durations are seconds with the suffix `s`. */
function numberIn(field: DescField, value: number): Json {
  if (field.message?.typeName === "google.protobuf.Duration") return `${value}s`;
  return isLong(field.scalar) ? String(value) : value;
}

function isLong(scalar: ScalarType | undefined): boolean {
  return scalar === ScalarType.INT64 || scalar === ScalarType.UINT64;
}

/** An example of a webhook payload. */
export const payloadExample: Json | undefined = requests.TriggerWebhook;

/** An example of a request body; undefined when the method has none. */
export function requestExample(method: DescMethod): Json | undefined {
  return requests[method.name];
}

export function responseExample(method: DescMethod): Json {
  return { ...messageExample(method.output, []), ...responses[method.name] };
}

function messageExample(message: DescMessage, parents: readonly DescMessage[]): { [key: string]: Json } {
  // Of a oneof, one field can be set.
  const fields = message.fields.filter(
    (field) => field.oneof === undefined || field.proto.proto3Optional || field.oneof.fields[0] === field,
  );
  return Object.fromEntries(
    fields.flatMap((field) => {
      if (absent.has(`${message.name}.${field.name}`)) return [];
      const value = exampleOf(field) ?? fieldExample(field, [...parents, message]);
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

function fieldExample(field: DescField, parents: readonly DescMessage[]): Json | undefined {
  const inner = field.message;
  if (inner === undefined) return defaultOf(field);
  if (parents.includes(inner) || inner.typeName.startsWith("google.")) return undefined;
  const example = messageExample(inner, parents);
  return field.fieldKind === "list" ? [example] : example;
}

/** The value that the server writes for a field that is not set. */
function defaultOf({ fieldKind, scalar }: DescField): Json {
  if (fieldKind === "list") return [];
  if (fieldKind === "map") return {};
  if (scalar === ScalarType.BOOL) return false;
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return "";
  return isLong(scalar) ? "0" : 0;
}
