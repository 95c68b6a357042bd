import { ConnectionPool } from "./connection.ts";
import { Deadline } from "./deadline.ts";
import { createEgressGuard } from "./egress.ts";
import { invalidArgument, messageOf, networkError, type RequestLine, RestError, redact } from "./error.ts";
import { type Fetch, type FixedOptions, fetchByRuntime, type OfetchRequest, StreamBody } from "./fetch.ts";
import { fixedOptions, loadOfetch, type Ofetch } from "./ofetch.ts";
import type { RequestOptions } from "./options.ts";
import { joinPath } from "./path.ts";
import { httpError } from "./response.ts";
import { retryDelayMs } from "./retry.ts";
import { type Settings, timeoutMs, toHeaders } from "./settings.ts";
import { startSpan } from "./trace.ts";

/** One call of the plugin. It may send several requests: redirects and retries. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  options: RequestOptions;
  /** Headers of this kind of call by lower-case name; they override the plugin's headers and are overridden by the caller's. */
  headers?: Record<string, string>;
  /** Sent as JSON; a StreamBody is sent as it is; undefined sends no body. */
  body?: unknown;
  /** Whether the egress guard applies. */
  guarded: boolean;
}

/** Reads a successful response. */
export type ResponseReader<T> = (response: Response, line: RequestLine) => Promise<T>;

export class HttpClient {
  readonly #settings: Settings;
  readonly #running = new Set<Deadline>();
  readonly #direct = new ConnectionPool(null);
  #guarded: ConnectionPool | null = null;
  #ofetch: Ofetch | null = null;
  readonly #fixedOptions: FixedOptions;
  #closed = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#fixedOptions = fixedOptions(settings);
  }

  /**
   * Sends a call and reads the response within the call's timeout.
   *
   * @throws RestError
   */
  async send<T>(call: Call, read: ResponseReader<T>): Promise<T> {
    const { method, options } = call;
    const settings = this.#settings;
    const url = joinPath(settings.base, call.path, options.params);
    const line: RequestLine = { method, url: redact(url, settings.secrets) };
    if (this.#closed) {
      throw new RestError("closed", `${method} ${line.url} was not sent: the plugin is closed`, line);
    }
    const limitMs = options.timeout === undefined ? settings.timeoutMs : timeoutMs(options.timeout);
    const body = encodeBody(call.body);
    const span = startSpan(line);
    const headers = headersFor(settings, call, span?.headers);
    const fetch = this.#fetchFor(call);
    const deadline = new Deadline(line, limitMs, options.signal);
    const { signal } = deadline;
    const request: OfetchRequest = { ...this.#fixedOptions, method, headers, body, signal, fetch };
    this.#running.add(deadline);
    let status: number | null = null;
    let failure: string | null = null;
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          if (deadline.reason) throw deadline.reason;
          this.#ofetch ??= await loadOfetch(settings);
          const response = await this.#ofetch(url, request);
          status = response.status;
          if (response.status < 200 || response.status > 299) {
            throw await httpError(response, line, settings.maxResponseBytes);
          }
          const result = await read(response, line);
          failure = null;
          return result;
        } catch (caught) {
          const error = deadline.reason ?? networkError(caught, line);
          const delayMs = retryDelayMs(settings.retry, error, attempt);
          failure = error.code;
          if (delayMs === null || delayMs >= deadline.remainingMs) throw error;
          await deadline.wait(delayMs);
        }
      }
    } finally {
      span?.end(status, failure);
      deadline.end();
      this.#running.delete(deadline);
    }
  }

  /** Aborts running calls with `closed`, closes idle connections and refuses further calls. */
  close(): void {
    this.#closed = true;
    for (const deadline of this.#running) deadline.abort("closed", "was aborted: the plugin was closed");
    this.#guarded?.close();
  }

  #fetchFor(call: Call): Fetch {
    if (call.guarded) {
      this.#guarded ??= new ConnectionPool(createEgressGuard(this.#settings));
      return this.#guarded.fetch;
    }
    return call.body instanceof StreamBody ? this.#direct.fetch : fetchByRuntime;
  }
}

/** The headers by lower-case name. The caller cannot replace the API key. */
function headersFor(
  { headers, authHeader }: Settings,
  call: Call,
  traceHeaders: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const own = call.options.headers;
  if (!call.headers && !own && !traceHeaders) return headers;
  const merged = { ...traceHeaders, ...headers, ...call.headers, ...Object.fromEntries(toHeaders(own)) };
  if (authHeader !== null) merged[authHeader] = headers[authHeader] ?? "";
  return merged;
}

function encodeBody(body: unknown): string | StreamBody | undefined {
  if (body === undefined || body instanceof StreamBody) return body;
  let cause: unknown = "it has no JSON form";
  try {
    const text: string | undefined = JSON.stringify(body);
    if (text !== undefined) return text;
  } catch (error) {
    cause = error;
  }
  throw invalidArgument(`Cannot send the data: it must be JSON: ${messageOf(cause)}`, cause);
}
