import type { $Fetch, FetchOptions } from "ofetch";
import { invalidArgument, messageOf, RestError } from "./error.ts";
import { followRedirects } from "./redirect.ts";
import type { Settings } from "./settings.ts";
import type { Transport, TransportRequest } from "./transport.ts";

/** Sends one request through ofetch. */
export type Sender = (url: string, request: TransportRequest) => Promise<Response>;

/**
 * Makes a sender; ofetch is loaded with the first.
 *
 * Only hooks need ofetch's own handling, whose other parts must be off. Without hooks the request goes straight through
 * ofetch to the transport: that handling takes 4 µs of the 60 of a request on Node. With hooks, redirects are followed
 * within it: each hook sees the request once, and the answer at the end.
 *
 * @throws RestError `not_installed`
 */
export async function createSender(transport: Transport, settings: Settings): Promise<Sender> {
  const createFetch = await loadCreateFetch();
  const hasHooks = Object.keys(settings.extras).some((name) => /^on[A-Z]/.test(name));
  if (!hasHooks) {
    const client = createFetch({ fetch: transport as typeof fetch, Headers, AbortController });
    return (url, request) => client.native(url, request as RequestInit);
  }
  const start = `${settings.base.origin}/`;
  return withHooks(
    createFetch({
      async fetch(input, init) {
        const url = String(input);
        if (!url.startsWith(start)) {
          const rule = "an onRequest hook may not lead it away from the base URL";
          throw invalidArgument(`Cannot send the request: ${rule}`);
        }
        const request = init as TransportRequest & RequestInit;
        return await followRedirects(await transport(url, request), transport, settings, url, request);
      },
      Headers,
      AbortController,
    }),
  );
}

function withHooks(client: $Fetch): Sender {
  return async (url, request) => {
    // Left to itself, ofetch retries GET, reads bodies of any size after its timeout, and takes broken JSON for text.
    const options = { ...request, retry: false, ignoreResponseError: true, responseType: "stream" };
    try {
      return await client.raw(url, options as FetchOptions<"stream">);
    } catch (error) {
      if (error instanceof Error && error.name === "FetchError") throw error.cause ?? error;
      throw new RestError("aborted", `The request was ended by a hook: ${messageOf(error)}`, {
        cause: error,
      });
    }
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
