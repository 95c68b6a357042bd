/**
 * The span of a call, when the process traces with OpenTelemetry. The plugin does not import the API of OpenTelemetry: all of
 * its copies share what is registered through a global symbol, whose name contains the major version of the API.
 */
import type { RequestLine } from "./error.ts";

interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
  traceState?: { serialize(): string };
}

interface Span {
  spanContext(): SpanContext;
  setAttribute(key: string, value: string | number): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

interface Tracer {
  startSpan(name: string, options: object, context: unknown): Span;
}

interface Registered {
  trace?: { getTracer(name: string): Tracer };
  context?: { active(): unknown };
}

const key: symbol = Symbol.for("opentelemetry.js.api.1");
/** The number of the API for a span of a request to another service. */
const clientKind = 2;
const errorStatus = 2;
const noTrace = "0".repeat(32);

export interface CallSpan {
  /** `traceparent`, and `tracestate` when there is one. */
  headers: Readonly<Record<string, string>>;
  /** @param error - the code of the error that the call throws; null after a success */
  end(status: number | null, error: string | null): void;
}

/** Starts the span of a call below the active span. Null when the process does not trace. */
export function startSpan({ method, url }: RequestLine): CallSpan | null {
  const { trace, context } = (globalThis as { [key]?: Registered })[key] ?? {};
  if (trace === undefined || context === undefined) return null;
  const attributes = { "http.request.method": method, "url.full": url };
  const span = trace
    .getTracer("svc/plugin")
    .startSpan(method, { kind: clientKind, attributes }, context.active());
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  if (traceId === noTrace) return null;
  const state = traceState?.serialize() ?? "";
  return {
    headers: {
      traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`,
      ...(state !== "" && { tracestate: state }),
    },
    end(status, error) {
      if (status !== null) span.setAttribute("http.response.status_code", status);
      if (error !== null) span.setStatus({ code: errorStatus, message: error });
      span.end();
    },
  };
}
