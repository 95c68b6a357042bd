/**
 * Tracing inside a runner: registers a context manager, a propagator and a tracer provider with the API of OpenTelemetry. Users'
 * code has a copy of the API of its own, which shares what is registered through a global symbol. Without tracing, none of
 * this is loaded, and users' code may register an SDK of its own.
 *
 * All spans of an attempt belong to the trace of the attempt; the option `root` has no effect.
 */
import type {
  Context,
  Span,
  SpanContext,
  SpanOptions,
  TextMapPropagator,
  TextMapSetter,
  Tracer,
} from "@opentelemetry/api";
import { current } from "../current-attempt.ts";
import type { Attempt } from "../interfaces.ts";
import { Contexts } from "./context-manager.ts";
import { maxSpans, type SpanMessage } from "./limits.ts";
import { anchorClock, RunnerSpan } from "./span.ts";

type Api = typeof import("@opentelemetry/api");

/** The trace of an attempt: a traceparent and, after a space, a tracestate. */
const contextText = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])(?: (.+))?$/;

interface Traced {
  context: SpanContext;
  spanCount: number;
}

export class RunnerTracing {
  readonly #api: Api;
  readonly #send: (attempt: Attempt, span: SpanMessage) => void;
  readonly #traces = new WeakMap<Attempt, Traced>();
  /** Not imported, because Node takes as long to load it as to load the rest of the runner. */
  readonly #randomBytes: typeof import("node:crypto").randomBytes;

  /** @param send - called for each ended span of a live attempt */
  constructor(api: Api, send: (attempt: Attempt, span: SpanMessage) => void) {
    this.#api = api;
    this.#send = send;
    this.#randomBytes = process.getBuiltinModule("node:crypto").randomBytes;
    api.context.setGlobalContextManager(new Contexts(api.ROOT_CONTEXT));
    api.propagation.setGlobalPropagator(new W3cPropagator(api));
    api.trace.setGlobalTracerProvider({ getTracer: (name) => this.#tracer(name) });
  }

  /** Runs the code of an attempt in its trace. */
  run(attempt: Attempt, trace: string, body: () => void): void {
    const api = this.#api;
    const [, traceId = "", spanId = "", flags, state] = contextText.exec(trace) ?? [];
    const context: SpanContext = {
      traceId,
      spanId,
      traceFlags: flags === "01" ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE,
      isRemote: true,
      ...(state !== undefined && { traceState: api.createTraceState(state) }),
    };
    anchorClock();
    this.#traces.set(attempt, { context, spanCount: 0 });
    api.context.with(api.trace.setSpanContext(api.ROOT_CONTEXT, context), body);
  }

  /** The active span, for the parent of a child execution; null for the attempt itself. */
  activeSpanId(attempt: Attempt): string | null {
    const traced = this.#traces.get(attempt);
    const active = this.#api.trace.getSpanContext(this.#api.context.active());
    return active !== undefined && active.traceId === traced?.context.traceId ? active.spanId : null;
  }

  #tracer(scope: string): Tracer {
    const api = this.#api;
    const startSpan = (name: string, options: SpanOptions = {}, context = api.context.active()): Span =>
      this.#startSpan(scope, name, options, context);
    return {
      startSpan,
      startActiveSpan(name: string, ...rest: unknown[]): never {
        const body = rest.pop() as (span: Span) => never;
        const [options = {}, context = api.context.active()] = rest as [SpanOptions?, Context?];
        const span = startSpan(name, options, context);
        return api.context.with(api.trace.setSpan(context, span), body, undefined, span);
      },
    };
  }

  #startSpan(scope: string, name: string, options: SpanOptions, context: Context): Span {
    const api = this.#api;
    const attempt = current();
    const traced = attempt === undefined ? undefined : this.#traces.get(attempt);
    if (attempt === undefined || traced === undefined)
      return api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT);
    const { context: own } = traced;
    const active = api.trace.getSpanContext(context);
    const parent = active?.traceId === own.traceId ? active : own;
    const isSampled = (own.traceFlags & api.TraceFlags.SAMPLED) !== 0;
    // Calls below a span that is not kept belong to its parent.
    if (!isSampled || ++traced.spanCount > maxSpans) return api.trace.wrapSpanContext(parent);
    const started: SpanContext = { ...own, spanId: this.#randomBytes(8).toString("hex"), isRemote: false };
    return new RunnerSpan({ context: started, parentId: parent.spanId, name, scope, options }, (message) => {
      if (attempt.live) this.#send(attempt, message);
    });
  }
}

class W3cPropagator implements TextMapPropagator {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const span = this.#api.trace.getSpanContext(context);
    if (span === undefined || !this.#api.isSpanContextValid(span)) return;
    const { traceId, spanId, traceFlags, traceState } = span;
    setter.set(carrier, "traceparent", `00-${traceId}-${spanId}-0${traceFlags & 1}`);
    const state = traceState?.serialize() ?? "";
    if (state !== "") setter.set(carrier, "tracestate", state);
  }

  /** The context of an attempt comes from the service. */
  extract(context: Context): Context {
    return context;
  }

  fields(): string[] {
    return ["traceparent", "tracestate"];
  }
}
