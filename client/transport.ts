/** The Connect protocol over `fetch`, as all runtimes and browsers have it. */
import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { unreachable } from "./errors.ts";
import { type RetryPolicy, retries } from "./retry.ts";

export interface TransportOptions {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
  fetch: typeof globalThis.fetch;
  retry: RetryPolicy;
}

/** A level of JSON takes three levels of messages; inputs and outputs may exceed the library's limit of 100. */
const recursionLimit = 10_000;

export function createTransport({ baseUrl, apiKey, fetch, retry }: TransportOptions): Transport {
  const authenticate: Interceptor = (next) => (request) => {
    if (apiKey !== undefined) request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
  return createConnectTransport({
    baseUrl,
    fetch: safeFetch(fetch),
    interceptors: [retries(retry), authenticate],
    jsonOptions: { recursionLimit },
  });
}

/** A `fetch` that reports a missing response as `unavailable`, and does not follow redirects. */
export function safeFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    let response: Response;
    try {
      // Edge runtimes lack the value `error`. A redirect must not be followed: it could lead to another service.
      response = await fetch(input, { ...init, redirect: "manual" });
    } catch (error) {
      if (init?.signal?.aborted) throw error;
      throw unreachable(url, error);
    }
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      throw new ConnectError(
        `${new URL(url).origin} redirects; use its final address.`,
        Code.FailedPrecondition,
      );
    }
    return response;
  };
}
