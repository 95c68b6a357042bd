import type { $Fetch, FetchOptions } from "ofetch";
import { invalidArgument, messageOf, RestError } from "./error.ts";
import type { Settings } from "./options.ts";
import { sendFollowing } from "./redirect.ts";
import type { Transport, TransportRequest } from "./transport.ts";

/** Sends one request through ofetch, whose hooks see it once, however many redirects it takes. */
export type OfetchClient = (
  url: string,
  request: TransportRequest,
  transport: Transport,
  settings: Settings,
) => Promise<Response>;

/** What our `fetch` needs to know of a call; ofetch hands unknown options on. */
const route = Symbol("route");

interface Routed extends TransportRequest {
  [route]: { transport: Transport; settings: Settings };
}

let loading: Promise<OfetchClient> | null = null;

/**
 * ofetch, loaded with the first request.
 *
 * @throws RestError `not_installed`
 */
export function loadOfetch(): Promise<OfetchClient> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load(): Promise<OfetchClient> {
  let createFetch: typeof import("ofetch").createFetch;
  try {
    ({ createFetch } = await import("ofetch"));
  } catch (error) {
    throw new RestError(
      "not_installed",
      `ofetch is not installed: run "npm install ofetch", "bun add ofetch" or "deno add npm:ofetch" (${messageOf(error)})`,
      { cause: error },
    );
  }
  const client: $Fetch = createFetch({ fetch: sendRouted, Headers, AbortController });
  return (url, request, transport, settings) => {
    const routed: Routed = { ...request, [route]: { transport, settings } };
    // Left to itself, ofetch retries GET, reads bodies of any size after its timeout, and takes broken JSON for text.
    const options: FetchOptions<"stream"> = {
      ...(routed as FetchOptions<"stream">),
      retry: false,
      ignoreResponseError: true,
      responseType: "stream",
    };
    return client.raw(url, options);
  };
}

async function sendRouted(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const routed = init as Routed & RequestInit;
  const { transport, settings } = routed[route];
  const url = String(input);
  if (!url.startsWith(`${settings.base.origin}/`)) {
    throw invalidArgument(
      "Cannot send the request: an onRequest hook may not lead it away from the base URL",
    );
  }
  return await sendFollowing(transport, settings, url, routed);
}
