/** Glossary: a *call* is what a method of the plugin does; each of its *tries* may take several hops of redirects. */
import { hasSockets } from "./builtin.ts";
import { Deadline } from "./deadline.ts";
import { createEgressGuard, guardFetch } from "./egress.ts";
import { messageOf, RestError } from "./error.ts";
import { loadOfetch } from "./ofetch.ts";
import { type RequestOptions, type Settings, timeoutMs, toHeaders } from "./options.ts";
import { joinPath } from "./path.ts";
import { type Exchange, httpError } from "./response.ts";
import { retryDelayMs } from "./retry.ts";
import { createSocketTransport } from "./socket.ts";
import { fetchTransport, type StreamBody, type Transport, type TransportRequest } from "./transport.ts";

export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  options: RequestOptions;
  /** Headers of the kind of call, over those of the plugin and under those of the caller. */
  headers?: Record<string, string>;
  body?: string | StreamBody;
  guarded: boolean;
}

export interface Engine {
  /**
   * Makes a call and hands a successful answer to `use`, within the call's time.
   *
   * @throws RestError
   */
  run<T>(call: Call, use: (response: Response, exchange: Exchange) => Promise<T>): Promise<T>;
  /** Breaks off what is running and refuses what comes. */
  close(): void;
}

export function createEngine(settings: Settings): Engine {
  const guard = createEgressGuard(settings);
  const guarded = createSocketTransport(guard);
  const unguarded = createSocketTransport(null);
  const running = new Set<Deadline>();
  let closed = false;

  function transportFor(call: Call): Transport {
    if (call.guarded) return hasSockets() ? guarded.send : guardFetch(guard, fetchTransport);
    return typeof call.body === "object" ? unguarded.send : fetchTransport;
  }

  async function once<T>(
    url: string,
    request: TransportRequest,
    transport: Transport,
    exchange: Exchange,
    use: (response: Response, exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    const client = await loadOfetch();
    const response = await client(url, request, transport, settings);
    if (!response.ok) throw await httpError(response, exchange, settings.maxResponseBytes);
    try {
      return await use(response, exchange);
    } catch (error) {
      throw networkError(error, exchange);
    }
  }

  async function run<T>(call: Call, use: (response: Response, exchange: Exchange) => Promise<T>): Promise<T> {
    const { method, options } = call;
    const url = joinPath(settings.base, call.path, options.params);
    const exchange = { method, url: hideSecrets(url, settings.secrets) };
    if (closed)
      throw new RestError("closed", `${method} ${exchange.url} was not sent: the plugin is closed`, exchange);
    const headers = headersFor(settings, call);
    const limitMs = options.timeout === undefined ? settings.timeoutMs : timeoutMs(options.timeout);
    const deadline = new Deadline(exchange, limitMs, options.signal);
    running.add(deadline);
    try {
      const request: TransportRequest = {
        ...settings.extras,
        method,
        headers,
        body: call.body,
        redirect: "manual",
        signal: deadline.signal,
      };
      for (let attempt = 1; ; attempt++) {
        try {
          if (deadline.reason) throw deadline.reason;
          return await once(url, request, transportFor(call), exchange, use);
        } catch (caught) {
          const error = deadline.reason ?? fromOfetch(caught, exchange);
          const delayMs = error instanceof RestError ? retryDelayMs(settings.retry, error, attempt) : null;
          if (delayMs === null || delayMs >= deadline.remainingMs) throw error;
          await deadline.wait(delayMs);
        }
      }
    } finally {
      deadline.end();
      running.delete(deadline);
    }
  }

  return {
    run,
    close() {
      closed = true;
      for (const deadline of running) deadline.break("closed", "was broken off: the plugin was closed");
      guarded.close();
      unguarded.close();
    },
  };
}

function headersFor(settings: Settings, call: Call): Headers {
  const own = call.options.headers;
  if (!call.headers && !own) return settings.headers;
  const headers = new Headers(settings.headers);
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  for (const [name, value] of own ? toHeaders(own) : []) {
    if (name !== settings.authHeader) headers.set(name, value);
  }
  return headers;
}

/** ofetch wraps what our `fetch` threw; what a hook of the caller threw stays as it is. */
function fromOfetch(error: unknown, exchange: Exchange): unknown {
  const wrapped = error instanceof Error && error.name === "FetchError";
  return wrapped ? networkError(error.cause ?? error, exchange) : error;
}

function networkError(error: unknown, exchange: Exchange): RestError {
  if (error instanceof RestError) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const message = messageOf(cause) || code || "no connection";
  return new RestError("network", `${exchange.method} ${exchange.url} failed: ${message}`, {
    ...exchange,
    cause: error,
  });
}

function hideSecrets(url: string, secrets: readonly string[]): string {
  let shown = url;
  for (const secret of secrets) {
    for (const form of [encodeURIComponent(secret), secret]) {
      if (shown.includes(form)) shown = shown.replaceAll(form, "***");
    }
  }
  return shown;
}
