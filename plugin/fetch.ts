import type { FetchExtras } from "./options.ts";
import { isUnsafe } from "./retry.ts";

/**
 * A body that is read in chunks, again for each redirect. A class, because ofetch serializes plain objects as JSON.
 */
export class StreamBody {
  readonly sizeBytes: number;
  readonly open: () => AsyncIterable<Uint8Array>;

  constructor(sizeBytes: number, open: () => AsyncIterable<Uint8Array>) {
    this.sizeBytes = sizeBytes;
    this.open = open;
  }
}

/** The options of all requests of a plugin. */
export interface FixedOptions extends Omit<FetchExtras, "headers"> {
  /** The plugin follows redirects itself, to check each location. */
  redirect: "manual";
  retry: false;
  responseType: "stream";
  ignoreResponseError: boolean;
}

export interface FetchRequest extends FixedOptions {
  method: string;
  headers: Headers;
  body?: string | StreamBody | null | undefined;
  signal: AbortSignal;
  /** Sends the request: `fetchByRuntime`, or a ConnectionPool. ofetch passes unknown options on. */
  fetch: Fetch;
}

/** A request as it is passed to ofetch, which creates the Headers. */
export type OfetchRequest = Omit<FetchRequest, "headers"> & { headers: Readonly<Record<string, string>> };

export type Fetch = (url: string, request: FetchRequest) => Promise<Response>;

/** Sends a request with the `fetch` of the runtime, looked up on each call so that a replacement takes effect. */
export const fetchByRuntime: Fetch = (url, request) => {
  // `fetch` ignores the options of ofetch.
  const init = request as RequestInit;
  if (!isDeno || !isUnsafe(request.method)) return globalThis.fetch(url, init);
  // Deno 2.9 repeats a request of any method when a kept connection breaks, unless its body is a Blob.
  return globalThis.fetch(url, { ...init, body: new Blob([(init.body as string | null | undefined) ?? ""]) });
};

const isDeno: boolean = "Deno" in globalThis;
