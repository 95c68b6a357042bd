import type { FetchOptions } from "ofetch";
import { invalidArgument, messageOf, RestError } from "./error.ts";
import type { FetchRequest, FixedOptions, OfetchRequest } from "./fetch.ts";
import { followRedirects, isRedirect } from "./redirect.ts";
import type { Settings } from "./settings.ts";

export type Ofetch = (url: string, request: OfetchRequest) => Promise<Response>;

/**
 * Loads ofetch.
 *
 * @returns a function that sends a request through ofetch and follows redirects; hooks run once for all of them
 * @throws RestError `not_installed`
 */
export async function loadOfetch(settings: Settings): Promise<Ofetch> {
  const createFetch = await importCreateFetch();
  const start = `${settings.base.origin}/`;
  const { raw } = createFetch({
    async fetch(input, init) {
      const url = String(input);
      if (!url.startsWith(start)) {
        throw invalidArgument("Cannot send the request: an onRequest hook must not change its origin");
      }
      const request = init as FetchRequest & RequestInit;
      const response = await request.fetch(url, request);
      return isRedirect(response.status) ? await followRedirects(response, settings, url, request) : response;
    },
    Headers,
    AbortController,
  });
  return (url, request) => raw(url, request as FetchOptions<"stream">).catch(unwrapFetchError);
}

/** The options of every request. */
export function fixedOptions({ extras }: Settings): FixedOptions {
  return {
    ...extras,
    redirect: "manual",
    // ofetch would retry GET, read a body of any size without a timeout, and return invalid JSON as a string.
    retry: false,
    responseType: "stream",
    ignoreResponseError: extras.onResponseError === undefined,
  };
}

/** Returns the response of a FetchError, or throws the cause. Any other error comes from a hook. */
function unwrapFetchError(error: unknown): Response {
  if (!(error instanceof Error && error.name === "FetchError")) {
    throw new RestError("aborted", `A hook aborted the request: ${messageOf(error)}`, { cause: error });
  }
  if ("response" in error && error.response instanceof Response) return error.response;
  throw error.cause ?? error;
}

async function importCreateFetch(): Promise<typeof import("ofetch").createFetch> {
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
