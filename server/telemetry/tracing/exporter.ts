/**
 * Sends spans to a collector in batches (OTLP over HTTP). Spans that exceed the queue, and batches that the collector does not
 * take after some tries, are dropped and counted: tracing must never slow down the service.
 */
import { setTimeout as pause } from "node:timers/promises";
import { log, reasonOf } from "../log/index.ts";
import { metrics } from "../metrics/index.ts";
import type { TracingSettings } from "./settings.ts";
import { type Span, toOtlp } from "./span.ts";

const maxTries = 3;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;
/** For the last batches when the server stops. */
const closeMs = 2_000;
const logIntervalMs = 60_000;
/** The statuses that ask for another try (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const retried = new Set([429, 502, 503, 504]);

export class SpanExporter {
  readonly #settings: TracingSettings;
  #queue: Span[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  readonly #closing = new AbortController();
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(settings: TracingSettings) {
    this.#settings = settings;
  }

  add(span: Span): void {
    const { maxQueued, maxBatch, delayMs } = this.#settings;
    if (this.#queue.length >= maxQueued) {
      metrics.spans.add("dropped_queue_full");
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= maxBatch) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), delayMs).unref();
  }

  /** Sends what is queued, for at most two seconds. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#closing.abort(), closeMs);
    this.#start();
    while (this.#sending !== null) await this.#sending;
    clearTimeout(timer);
  }

  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#sending !== null || this.#queue.length === 0) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, this.#settings.maxBatch);
      const outcome = (await this.#send(batch)) ? "exported" : "dropped_not_accepted";
      for (const _ of batch) metrics.spans.add(outcome);
    }
  }

  /** Whether the collector took the batch. */
  async #send(batch: readonly Span[]): Promise<boolean> {
    const { url, headers, timeoutMs, resource } = this.#settings;
    const body = toOtlp(batch, resource);
    for (let number = 1; ; number++) {
      let problem: string;
      let waitMs = Math.min(maxPauseMs, firstPauseMs * 2 ** (number - 1));
      let isPermanent = false;
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body,
          signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
        });
        await response.body?.cancel();
        if (response.ok) return true;
        problem = `the collector answered ${response.status}`;
        isPermanent = !retried.has(response.status);
        const after = Number(response.headers.get("retry-after") ?? Number.NaN);
        if (after >= 0) waitMs = Math.min(maxPauseMs, after * 1000);
      } catch (error) {
        problem = reasonOf(error);
      }
      if (isPermanent || number >= maxTries || this.#closing.signal.aborted) {
        this.#logDrop(batch.length, problem);
        return false;
      }
      await pause(waitMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
    }
  }

  #logDrop(count: number, reason: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < logIntervalMs) return;
    this.#loggedMs = nowMs;
    log.error(`Cannot send ${count} spans`, { reason });
  }
}
