import type { $Fetch, FetchOptions } from "ofetch";
import { invalidArgument, messageOf, RestError } from "./error.ts";
import type { Settings } from "./options.ts";
import { followRedirects } from "./redirect.ts";
import type { Transport, TransportRequest } from "./transport.ts";

/**
 * Sends one request through ofetch. With hooks, redirects are followed within it: each hook sees the request once, and
 * the answer at the end. Without, the first answer is returned, and following it costs nothing when there is nothing to.
 */
export type Sender = (url: string, request: OfetchRequest) => Promise<Response>;

/** Left to itself, ofetch retries GET, reads bodies of any size after its timeout, and takes broken JSON for text. */
export const ofetchRules = { retry: false, ignoreResponseError: true, responseType: "stream" } as const;

export type OfetchRequest = TransportRequest & typeof ofetchRules;

/**
 * Makes a sender; ofetch is loaded with the first.
 *
 * @throws RestError `not_installed`
 */
export async function createSender(transport: Transport, settings: Settings): Promise<Sender> {
  const createFetch = await loadCreateFetch();
  const start = `${settings.base.origin}/`;
  const hasHooks = Object.keys(settings.extras).some((name) => /^on[A-Z]/.test(name));
  const client: $Fetch = createFetch({
    fetch(input, init) {
      const url = String(input);
      if (!url.startsWith(start)) {
        const rule = "an onRequest hook may not lead it away from the base URL";
        return Promise.reject(invalidArgument(`Cannot send the request: ${rule}`));
      }
      const request = init as TransportRequest & RequestInit;
      const first = transport(url, request);
      if (!hasHooks) return first;
      return first.then((response) => followRedirects(response, transport, settings, url, request));
    },
    Headers: hasHooks ? Headers : (SharedHeaders as unknown as typeof Headers),
    AbortController,
  });
  return (url, request) => {
    const target = hasHooks ? url : (new Target(url) as unknown as Request);
    return client.raw(target, request as FetchOptions<"stream">);
  };
}

async function loadCreateFetch(): Promise<typeof import("ofetch").createFetch> {
  try {
    return (await import("ofetch")).createFetch;
  } catch (error) {
    throw new RestError(
      "not_installed",
      `ofetch is not installed: run "npm install ofetch", "bun add ofetch" or "deno add npm:ofetch" (${messageOf(error)})`,
      { cause: error },
    );
  }
}

/**
 * A URL that is no string. Of a request by string, ofetch deletes members of the options, which every access pays for
 * afterwards: 2 µs per request, as much as all else here.
 */
class Target {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  toString(): string {
    return this.url;
  }
}

/** Spares the copy that ofetch makes of the headers of each request, when no hook is there to change them. */
function SharedHeaders(headers: Headers): Headers {
  return headers;
}
SharedHeaders.prototype = Headers.prototype;
