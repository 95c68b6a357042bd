/** Validates spans of users' code. The runner keeps the limits; code that writes to the channel itself may not. */
import type { JsonValue } from "../../../project/json.ts";
import {
  maxAttributes,
  maxElements,
  maxEvents,
  maxKeyLength,
  maxTextLength,
  type SpanMessage,
  type SpanValue,
} from "../runner/tracing/limits.ts";
import { integer, object, ProtocolError, string } from "./parse-value.ts";

const hexadecimal = /^(?!0{16})[0-9a-f]{16}$/;
const kinds = [0, 1, 2, 3, 4];
const codes = [0, 1, 2];

/** @throws ProtocolError when it does not have the shape and the limits of `runner/tracing/limits.ts` */
export function parseSpan(value: JsonValue | undefined): SpanMessage {
  const span = object(value);
  const status = object(span.status);
  if (!Array.isArray(span.events) || span.events.length > maxEvents) {
    throw new ProtocolError("it sent a span with too many events");
  }
  const events = span.events.map((one) => {
    const event = object(one);
    const name = string(event.name, maxTextLength);
    return { name, atMs: time(event.atMs), attributes: attributes(event.attributes) };
  });
  return {
    spanId: spanId(span.spanId),
    parentId: spanId(span.parentId),
    name: string(span.name, maxTextLength),
    kind: oneOf(span.kind, kinds),
    startMs: time(span.startMs),
    endMs: time(span.endMs),
    attributes: attributes(span.attributes),
    events,
    status: { code: oneOf(status.code, codes), message: string(status.message, maxTextLength) },
    scope: string(span.scope, maxTextLength),
  };
}

/** @throws ProtocolError */
export function spanId(value: JsonValue | undefined): string {
  const text = string(value, 16);
  if (!hexadecimal.test(text)) throw new ProtocolError("it sent an invalid span id");
  return text;
}

function attributes(value: JsonValue | undefined): Record<string, SpanValue> {
  const entries = Object.entries(object(value));
  if (entries.length > maxAttributes) throw new ProtocolError("it sent a span with too many attributes");
  return Object.fromEntries(entries.map(([key, one]) => [string(key, maxKeyLength), attribute(one)]));
}

function attribute(value: JsonValue): SpanValue {
  if (!Array.isArray(value)) {
    const single = element(value);
    if (single === null) throw new ProtocolError("it sent an attribute without a value");
    return single;
  }
  if (value.length > maxElements) throw new ProtocolError("it sent an attribute with too many elements");
  return value.map(element);
}

function element(value: JsonValue): string | number | boolean | null {
  if (typeof value === "object" && value !== null) throw new ProtocolError("it sent a nested attribute");
  return typeof value === "string" ? string(value, maxTextLength) : value;
}

function oneOf(value: JsonValue | undefined, numbers: readonly number[]): number {
  const number = integer(value);
  if (!numbers.includes(number))
    throw new ProtocolError("it sent a number that is not one of its enumeration");
  return number;
}

/** A time must be within the range of OTLP. */
function time(value: JsonValue | undefined): number {
  if (typeof value !== "number" || !(value >= 0 && value < 1e13)) {
    throw new ProtocolError("it sent an invalid time");
  }
  return value;
}
