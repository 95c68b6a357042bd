/** A span that users' code makes. It is sent when it ends. */
import type {
  Attributes,
  AttributeValue,
  Exception,
  Link,
  Span,
  SpanContext,
  SpanOptions,
  SpanStatus,
  TimeInput,
} from "@opentelemetry/api";
import {
  maxAttributes,
  maxElements,
  maxEvents,
  maxKeyLength,
  maxTextLength,
  type SpanMessage,
  type SpanValue,
} from "./limits.ts";

export interface SpanStart {
  context: SpanContext;
  parentId: string;
  name: string;
  scope: string;
  options: SpanOptions;
}

/** States: *open*, then *ended*: later changes have no effect. */
export class RunnerSpan implements Span {
  readonly #context: SpanContext;
  readonly #message: SpanMessage;
  readonly #onEnd: (message: SpanMessage) => void;
  #ended = false;

  constructor({ context, parentId, name, scope, options }: SpanStart, onEnd: (message: SpanMessage) => void) {
    this.#context = context;
    this.#onEnd = onEnd;
    this.#message = {
      spanId: context.spanId,
      parentId,
      name: cut(name),
      kind: options.kind ?? 0,
      startMs: toMs(options.startTime),
      endMs: 0,
      attributes: {},
      events: [],
      status: { code: 0, message: "" },
      scope: cut(scope),
    };
    this.setAttributes(options.attributes ?? {});
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(key: string, value: AttributeValue): this {
    if (!this.#ended) put(this.#message.attributes, key, value);
    return this;
  }

  setAttributes(attributes: Attributes): this {
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined) this.setAttribute(key, value);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    const { events } = this.#message;
    if (this.#ended || events.length >= maxEvents) return this;
    const isTime =
      typeof attributesOrTime === "number" ||
      attributesOrTime instanceof Date ||
      Array.isArray(attributesOrTime);
    const atMs = toMs(isTime ? (attributesOrTime as TimeInput) : time);
    const attributes: Record<string, SpanValue> = {};
    for (const [key, value] of Object.entries(isTime ? {} : ((attributesOrTime ?? {}) as Attributes))) {
      put(attributes, key, value);
    }
    events.push({ name: cut(name), atMs, attributes });
    return this;
  }

  /** Links are not kept. */
  addLink(_link: Link): this {
    return this;
  }

  addLinks(_links: Link[]): this {
    return this;
  }

  setStatus({ code, message = "" }: SpanStatus): this {
    if (!this.#ended) this.#message.status = { code, message: cut(message) };
    return this;
  }

  updateName(name: string): this {
    if (!this.#ended) this.#message.name = cut(name);
    return this;
  }

  end(endTime?: TimeInput): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#message.endMs = Math.max(this.#message.startMs, toMs(endTime));
    this.#onEnd(this.#message);
  }

  isRecording(): boolean {
    return !this.#ended;
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const { name, message, stack } =
      typeof exception === "string" ? { name: "Error", message: exception, stack: undefined } : exception;
    const attributes: Attributes = {
      "exception.type": name ?? "Error",
      "exception.message": message ?? "",
      ...(stack === undefined ? {} : { "exception.stacktrace": stack }),
    };
    this.addEvent("exception", attributes, time);
  }
}

function put(attributes: Record<string, SpanValue>, key: string, value: unknown): void {
  const isFull = Object.keys(attributes).length >= maxAttributes && !Object.hasOwn(attributes, key);
  if (isFull || key === "" || key.length > maxKeyLength) return;
  const kept = Array.isArray(value) ? value.slice(0, maxElements).map(primitive) : primitive(value);
  if (kept !== null)
    Object.defineProperty(attributes, key, { value: kept, enumerable: true, configurable: true });
}

function primitive(value: unknown): string | number | boolean | null {
  if (typeof value === "string") return cut(value);
  if (typeof value === "boolean") return value;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function cut(text: unknown): string {
  return String(text).slice(0, maxTextLength);
}

/** Unix milliseconds. A small number is a time of `performance.now()`, as in the API. */
function toMs(time: TimeInput | undefined): number {
  if (time === undefined) return anchor.wallMs + performance.now() - anchor.monotonicMs;
  if (Array.isArray(time)) return time[0] * 1000 + time[1] / 1e6;
  if (time instanceof Date) return time.getTime();
  return time < 1e11 ? anchor.wallMs + time - anchor.monotonicMs : time;
}

/** Sets the time of the monotonic clock in wall time again: the wall clock may have been corrected. */
export function anchorClock(): void {
  anchor = { wallMs: Date.now(), monotonicMs: performance.now() };
}

let anchor = { wallMs: Date.now(), monotonicMs: performance.now() };
