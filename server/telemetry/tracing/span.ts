/** Spans, and their form in OTLP as JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export type AttributeValue = string | number | boolean | readonly (string | number | boolean | null)[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The numbers of the OpenTelemetry API. Those of OTLP are greater by one. */
export const spanKinds = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;

export interface SpanEvent {
  name: string;
  /** Unix milliseconds, with a fraction. */
  atMs: number;
  attributes: Attributes;
}

export interface SpanStatus {
  /** 0 unset, 1 ok, 2 error. */
  code: number;
  message: string;
}

export interface Span {
  traceId: string;
  spanId: string;
  /** Null for the first span of a trace. */
  parentId: string | null;
  state: string;
  name: string;
  /** Of `spanKinds`. */
  kind: number;
  /** Unix milliseconds, with a fraction. */
  startMs: number;
  endMs: number;
  attributes: Attributes;
  events: readonly SpanEvent[];
  status: SpanStatus;
  /** The library that made the span. */
  scope: string;
}

/** The body of a request to a collector. */
export function toOtlp(spans: readonly Span[], resource: Readonly<Record<string, string>>): string {
  const scopes = Map.groupBy(spans, ({ scope }) => scope);
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [...scopes].map(([name, members]) => ({ scope: { name }, spans: members.map(spanOf) })),
      },
    ],
  });
}

function spanOf(span: Span): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    ...(span.state !== "" && { traceState: span.state }),
    name: span.name,
    kind: span.kind + 1,
    startTimeUnixNano: nanoseconds(span.startMs),
    endTimeUnixNano: nanoseconds(Math.max(span.startMs, span.endMs)),
    attributes: attributesOf(span.attributes),
    events: span.events.map(({ name, atMs, attributes }) => ({
      name,
      timeUnixNano: nanoseconds(atMs),
      attributes: attributesOf(attributes),
    })),
    status: span.status,
  };
}

/** A number of nanoseconds exceeds the integers of a double; one of microseconds does not. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: AttributeValue | null): object {
  if (value === null) return {};
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  return { arrayValue: { values: value.map(anyValue) } };
}
