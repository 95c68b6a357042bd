/**
 * Makes the spans of the service. A trace joins:
 *
 * - the *request* that starts an execution, below the span of its sender;
 * - for each attempt the wait in the *queue*, and the *attempt*;
 * - the spans of users' code, below its attempt;
 * - child executions, below the span that was active at the call of `ctx.run`.
 */
import type { IncomingHttpHeaders } from "node:http";
import {
  formatContext,
  parseContext,
  parseHeaders,
  randomHex,
  type TraceContext,
  traceIdOf,
} from "./context.ts";
import { SpanExporter } from "./exporter.ts";
import type { SamplerSettings, TracingSettings } from "./settings.ts";
import { type Attributes, type Span, type SpanStatus, spanKinds } from "./span.ts";

const scope = "svc";
const unset: SpanStatus = { code: 0, message: "" };

/** What a span of an attempt shows of its execution. The organization is left out: its id is part of webhook URLs. */
export interface TracedExecution {
  execution_id: string;
  kind: string;
  name: string;
  origin: string;
  deployment_id: string;
  environment: string;
  attempt: number;
  created_at: number;
  due_at: number;
  attempt_started_at: number | null;
  /** The context of the request or of the parent execution. */
  trace: string | null;
}

/** A span as a runner reports it. */
export type RunnerSpan = Omit<Span, "traceId" | "state">;

export class Tracer {
  readonly #exporter: Pick<SpanExporter, "add" | "close">;
  readonly #sampler: SamplerSettings;

  constructor(
    settings: TracingSettings,
    exporter: Pick<SpanExporter, "add" | "close"> = new SpanExporter(settings),
  ) {
    this.#sampler = settings.sampler;
    this.#exporter = exporter;
  }

  request(headers: IncomingHttpHeaders): RequestSpan {
    const parent = parseHeaders(headers.traceparent, headers.tracestate);
    const traceId = parent?.traceId ?? randomHex(16);
    const sampled = this.#samples(parent, traceId);
    const context = { traceId, spanId: randomHex(8), sampled, state: parent?.state ?? "" };
    return new RequestSpan(context, parent?.spanId ?? null, (span) => this.#exporter.add(span));
  }

  /** Starts the span of an attempt, and ends that of its wait in the queue. */
  attempt(execution: TracedExecution): AttemptSpan {
    const stored = execution.trace === null ? null : parseContext(execution.trace);
    const traceId = stored?.traceId ?? traceIdOf(execution.execution_id);
    const sampled = stored?.sampled ?? this.#samples(null, traceId);
    const context = { traceId, spanId: randomHex(8), sampled, state: stored?.state ?? "" };
    const span = new AttemptSpan(execution, context, stored?.spanId ?? null, (one) =>
      this.#exporter.add(one),
    );
    span.endQueue();
    return span;
  }

  close(): Promise<void> {
    return this.#exporter.close();
  }

  /** The same for all processes, because it follows from the trace id. */
  #samples(parent: TraceContext | null, traceId: string): boolean {
    const { parentBased, ratio } = this.#sampler;
    if (parentBased && parent !== null) return parent.sampled;
    // The last seven bytes are random in every trace id (https://www.w3.org/TR/trace-context-2/#random-trace-id-flag).
    return Number.parseInt(traceId.slice(-13), 16) < ratio * 2 ** 52;
  }
}

export class RequestSpan {
  readonly #context: TraceContext;
  readonly #parentId: string | null;
  readonly #add: (span: Span) => void;
  readonly #clock: Clock = startClock();
  /** The execution that the request started. */
  executionId: string | undefined;

  constructor(context: TraceContext, parentId: string | null, add: (span: Span) => void) {
    this.#context = context;
    this.#parentId = parentId;
    this.#add = add;
  }

  /** For the execution that the request starts. */
  get context(): string {
    return formatContext(this.#context);
  }

  end(name: string, method: string, status: number): void {
    const { sampled, traceId, spanId, state } = this.#context;
    if (!sampled) return;
    this.#add({
      ...{ traceId, spanId, state, parentId: this.#parentId, name, kind: spanKinds.server, scope },
      startMs: this.#clock.startMs,
      endMs: endOf(this.#clock),
      attributes: {
        "http.request.method": method,
        "http.response.status_code": status,
        "svc.execution.id": this.executionId,
      },
      events: [],
      status: status >= 500 ? { code: 2, message: "" } : unset,
    });
  }
}

export class AttemptSpan {
  readonly #execution: TracedExecution;
  readonly #context: TraceContext;
  readonly #parentId: string | null;
  readonly #add: (span: Span) => void;
  readonly #clock: Clock = startClock();

  constructor(
    execution: TracedExecution,
    context: TraceContext,
    parentId: string | null,
    add: (span: Span) => void,
  ) {
    this.#execution = execution;
    this.#context = context;
    this.#parentId = parentId;
    this.#add = add;
  }

  /** For the runner. */
  get context(): string {
    return formatContext(this.#context);
  }

  /** For a child execution. @param spanId - the span that was active at the call; null for the attempt itself */
  childContext(spanId: string | null): string {
    return formatContext({ ...this.#context, spanId: spanId ?? this.#context.spanId });
  }

  endQueue(): void {
    const { due_at, attempt_started_at } = this.#execution;
    const endMs = Math.max(due_at, attempt_started_at ?? due_at);
    this.#record(randomHex(8), `queue ${this.#execution.name}`, spanKinds.internal, due_at, endMs, unset);
  }

  /** @param outcome - of the attempt, for example `succeeded` or `timeout` */
  end(outcome: string, status: SpanStatus): void {
    const { name } = this.#execution;
    const attributes = { "svc.attempt.outcome": outcome };
    const { spanId } = this.#context;
    this.#record(
      spanId,
      `run ${name}`,
      spanKinds.consumer,
      this.#clock.startMs,
      endOf(this.#clock),
      status,
      attributes,
    );
  }

  /** Adds a span of users' code. A span belongs to the trace of its attempt, whatever the code says. */
  addRunnerSpan(span: RunnerSpan): void {
    const { traceId, state, sampled } = this.#context;
    if (sampled) this.#add({ ...span, traceId, state });
  }

  #record(
    spanId: string,
    name: string,
    kind: number,
    startMs: number,
    endMs: number,
    status: SpanStatus,
    more: Attributes = {},
  ): void {
    const { traceId, state, sampled } = this.#context;
    if (!sampled) return;
    const { kind: targetKind, name: target, origin, ...execution } = this.#execution;
    this.#add({
      ...{ traceId, spanId, state, parentId: this.#parentId, name, kind, startMs, endMs, status, scope },
      attributes: {
        "svc.execution.id": execution.execution_id,
        "svc.attempt": execution.attempt,
        "svc.target.kind": targetKind,
        "svc.target.name": target,
        "svc.trigger": origin,
        "svc.deployment.id": execution.deployment_id,
        "svc.environment": execution.environment,
        ...more,
      },
      events: [],
    });
  }
}

/** The start of a span by both clocks: times are those of the wall clock, and durations those of the monotonic one. */
interface Clock {
  startMs: number;
  monotonicMs: number;
}

function startClock(): Clock {
  return { startMs: Date.now(), monotonicMs: performance.now() };
}

function endOf({ startMs, monotonicMs }: Clock): number {
  return startMs + performance.now() - monotonicMs;
}
