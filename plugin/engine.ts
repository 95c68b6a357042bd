/** Glossary: a *call* is what a method of the plugin does; each of its *tries* may take several hops of redirects. */
import { hasSockets } from "./builtin.ts";
import { Deadline } from "./deadline.ts";
import { createEgressGuard, guardFetch } from "./egress.ts";
import { invalidArgument, messageOf, RestError } from "./error.ts";
import type { Exchange } from "./exchange.ts";
import { httpError } from "./http-error.ts";
import type { Method } from "./method.ts";
import { createSender, type Sender } from "./ofetch.ts";
import type { RequestOptions } from "./options.ts";
import { joinPath } from "./path.ts";
import { followRedirects, isRedirect } from "./redirect.ts";
import { retryDelayMs } from "./retry.ts";
import { type Settings, timeoutMs, toHeaders } from "./settings.ts";
import { createSocketTransport } from "./socket.ts";
import { fetchTransport, StreamBody, type Transport, type TransportRequest } from "./transport.ts";

export interface Call {
  method: Method;
  path: string;
  options: RequestOptions;
  /** Headers of the kind of call, over those of the plugin and under those of the caller. */
  headers?: Record<string, string>;
  /** Sent as JSON, or as it is when it is a StreamBody; nothing when undefined. */
  body?: unknown;
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
  const fixed = { ...settings.extras, redirect: "manual" } as const;
  const senders = new Map<Transport, Sender>();
  const running = new Set<Deadline>();
  let closed = false;

  const guardedTransport = hasSockets() ? guarded.send : guardFetch(guard, fetchTransport);

  function transportFor(call: Call): Transport {
    if (call.guarded) return guardedTransport;
    return call.body instanceof StreamBody ? unguarded.send : fetchTransport;
  }

  async function senderFor(transport: Transport): Promise<Sender> {
    const sender = await createSender(transport, settings);
    senders.set(transport, sender);
    return sender;
  }

  async function run<T>(call: Call, use: (response: Response, exchange: Exchange) => Promise<T>): Promise<T> {
    const { method, options } = call;
    const url = joinPath(settings.base, call.path, options.params);
    const exchange = { method, url: hideSecrets(url, settings.secretForms) };
    if (closed) {
      throw new RestError("closed", `${method} ${exchange.url} was not sent: the plugin is closed`, exchange);
    }
    const body = bodyOf(call);
    const headers = headersFor(settings, call);
    const limitMs = options.timeout === undefined ? settings.timeoutMs : timeoutMs(options.timeout);
    const deadline = new Deadline(exchange, limitMs, options.signal);
    const request: TransportRequest = { ...fixed, method, headers, body, signal: deadline.signal };
    const transport = transportFor(call);
    running.add(deadline);
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          if (deadline.reason) throw deadline.reason;
          const send = senders.get(transport) ?? (await senderFor(transport));
          let response = await send(url, request);
          let { status } = response;
          if (isRedirect(status)) {
            response = await followRedirects(response, transport, settings, url, request);
            status = response.status;
          }
          if (status < 200 || status > 299) {
            throw await httpError(response, exchange, settings.maxResponseBytes);
          }
          return await use(response, exchange);
        } catch (caught) {
          const error = deadline.reason ?? networkError(caught, exchange);
          const delayMs = retryDelayMs(settings.retry, error, attempt);
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
  const isJson = call.body !== undefined && !(call.body instanceof StreamBody);
  const common = isJson ? settings.jsonHeaders : settings.headers;
  if (!call.headers && !own) return common;
  const headers = new Headers(common);
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  for (const [name, value] of own ? toHeaders(own) : []) {
    if (name !== settings.authHeader) headers.set(name, value);
  }
  return headers;
}

function bodyOf({ body }: Call): string | StreamBody | undefined {
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

function hideSecrets(url: string, secretForms: readonly string[]): string {
  let shown = url;
  for (const form of secretForms) {
    if (shown.includes(form)) shown = shown.replaceAll(form, "***");
  }
  return shown;
}
