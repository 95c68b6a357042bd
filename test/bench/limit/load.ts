/**
 * Sends POST requests over keep-alive connections, and counts and times the responses.
 *
 * With a rate, requests are due at equal intervals and latency counts from the due time, so that a stall shows in the
 * latency of the requests that it delayed. Without a rate, each connection sends its next request after a response, and
 * latency counts from the send.
 */
import { Connection } from "./connection.ts";
import { type RequestOptions, RequestTemplate } from "./request.ts";

export interface LoadOptions extends RequestOptions {
  /** More URLs, of the same server: requests go to each URL in turn. */
  moreUrls?: readonly string[];
  /** The 16 digits for `{n}`: the number of the request (default), or the microseconds since 1970 at which it was due. */
  digits?: "number" | "time";
  /** Default 64. */
  connections?: number;
  /** Measured seconds. Default 5. */
  seconds?: number;
  /** Seconds of warm-up that are not measured. Default 1. */
  warmupSeconds?: number;
  /** Requests per second; 0, the default, is as many as the server accepts. */
  ratePerSecond?: number;
  /** Status that every response must have. Default 202. */
  expect?: number;
}

export interface LoadResult {
  /** Responses with the expected status within the measured seconds. */
  answers: number;
  perSecond: number;
  /** All responses by status, including the warm-up. */
  statuses: Record<string, number>;
  /** Requests without a response: the connection closed, or none arrived within 10 seconds after the end. */
  lost: number;
  /** For requests sent, or due, in the measured seconds. */
  latencyMs: { p50: number; p90: number; p99: number; max: number };
}

const drainMs = 10_000;
const maxLost = 1000;

/** Runs the load in this process. @throws Error when the URL is not http or connections keep failing */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const load = new Load(options);
  return load.done;
}

class Load {
  readonly done: Promise<LoadResult>;
  readonly #options: Required<
    Pick<LoadOptions, "connections" | "seconds" | "ratePerSecond" | "expect" | "digits">
  >;
  readonly #url: URL;
  readonly #templates: readonly RequestTemplate[];
  readonly #startMs: number;
  readonly #measureMs: number;
  readonly #endMs: number;
  /** Interval between due times; infinite without a rate. */
  readonly #gapMs: number;
  /** Requests due before the end, computed from the rate because timers are inexact. */
  readonly #dueCount: number;
  /** The copies of each connection, one of each template. */
  readonly #connections = new Map<Connection, readonly Buffer[]>();
  readonly #idle = new Set<Connection>();
  readonly #statuses = new Map<number, number>();
  readonly #latencies: number[] = [];
  readonly #settle = Promise.withResolvers<LoadResult>();
  readonly #timers: NodeJS.Timeout[] = [];
  #sent = 0;
  #outstanding = 0;
  #answers = 0;
  #lost = 0;

  constructor(options: LoadOptions) {
    const { connections = 64, seconds = 5, warmupSeconds = 1, ratePerSecond = 0, expect = 202 } = options;
    this.#options = { connections, seconds, ratePerSecond, expect, digits: options.digits ?? "number" };
    this.#url = new URL(options.url);
    if (this.#url.protocol !== "http:")
      throw new Error(`Cannot load ${options.url}: it must be an http URL.`);
    this.#templates = [options.url, ...(options.moreUrls ?? [])].map(
      (url) => new RequestTemplate({ ...options, url }),
    );
    // After the requests have been generated.
    this.#startMs = performance.now();
    this.#measureMs = this.#startMs + warmupSeconds * 1000;
    this.#endMs = this.#measureMs + seconds * 1000;
    this.#gapMs = ratePerSecond === 0 ? Number.POSITIVE_INFINITY : 1000 / ratePerSecond;
    this.#dueCount = Math.round((warmupSeconds + seconds) * ratePerSecond);
    this.done = this.#settle.promise;
    for (let n = 0; n < connections; n++) this.#open();
    if (ratePerSecond > 0) this.#timers.push(setInterval(() => this.#sendDue(), 1));
    this.#timers.push(setTimeout(() => this.#finish(), this.#endMs + drainMs - this.#startMs));
  }

  #open(): void {
    const connection = new Connection(this.#url.hostname, Number(this.#url.port || 80), {
      responded: (status) => this.#responded(connection, status),
      lost: (waiting) => this.#onLost(connection, waiting),
    });
    this.#connections.set(
      connection,
      this.#templates.map((template) => template.copy()),
    );
    this.#next(connection);
  }

  #next(connection: Connection): void {
    const nowMs = performance.now();
    if (this.#options.ratePerSecond === 0 && nowMs < this.#endMs) {
      this.#send(connection, nowMs);
      return;
    }
    this.#idle.add(connection);
    this.#sendDue();
  }

  /** Sends due requests on idle connections; those due before the end are sent after it if necessary. */
  #sendDue(): void {
    const nowMs = performance.now();
    for (const connection of this.#idle) {
      const dueMs = this.#startMs + this.#sent * this.#gapMs;
      if (this.#unsent === 0 || dueMs > nowMs) break;
      this.#idle.delete(connection);
      this.#send(connection, dueMs);
    }
    if (nowMs >= this.#endMs && this.#outstanding + this.#unsent === 0) this.#finish();
  }

  /** Requests due before the end and not yet sent. */
  get #unsent(): number {
    return Math.max(0, this.#dueCount - this.#sent);
  }

  #send(connection: Connection, dueMs: number): void {
    const number = this.#sent;
    const index = number % this.#templates.length;
    const copy = this.#connections.get(connection)?.[index];
    const template = this.#templates[index];
    if (copy === undefined || template === undefined) return;
    connection.dueMs = dueMs;
    this.#outstanding++;
    this.#sent++;
    const isTime = this.#options.digits === "time";
    const digits = isTime ? Math.round((performance.timeOrigin + dueMs) * 1000) : number;
    connection.send(template.number(copy, digits));
  }

  #responded(connection: Connection, status: number): void {
    const nowMs = performance.now();
    this.#outstanding--;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (status === this.#options.expect && nowMs >= this.#measureMs && nowMs < this.#endMs) this.#answers++;
    if (connection.dueMs >= this.#measureMs) this.#latencies.push(nowMs - connection.dueMs);
    this.#next(connection);
  }

  #onLost(connection: Connection, waiting: boolean): void {
    this.#connections.delete(connection);
    this.#idle.delete(connection);
    if (waiting) {
      this.#outstanding--;
      this.#lost++;
    }
    if (this.#lost > maxLost) {
      this.#close();
      this.#settle.reject(new Error(`Cannot load ${this.#url.href}: over ${maxLost} connections failed.`));
    } else if (performance.now() < this.#endMs || this.#unsent > 0) this.#open();
    else if (this.#outstanding === 0) this.#finish();
  }

  #finish(): void {
    this.#close();
    const { seconds } = this.#options;
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number) => round(sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN);
    this.#settle.resolve({
      answers: this.#answers,
      perSecond: round(this.#answers / seconds),
      statuses: Object.fromEntries(this.#statuses),
      lost: this.#lost + this.#outstanding + this.#unsent,
      latencyMs: { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) },
    });
  }

  #close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    const open = [...this.#connections.keys()];
    this.#connections.clear();
    for (const connection of open) connection.close();
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
