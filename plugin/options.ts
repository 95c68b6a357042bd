import type { FetchOptions } from "ofetch";
import type { QueryParams } from "./path.ts";
import type { RetryOptions } from "./retry.ts";

/** Options of ofetch that the plugin decides itself, so that its guarantees hold. */
export const ownOptions = [
  "baseURL",
  "body",
  "duplex",
  "ignoreResponseError",
  "method",
  "params",
  "parseResponse",
  "query",
  "redirect",
  "responseType",
  "retryDelay",
  "retryStatusCodes",
  "signal",
] as const;

/** Options of ofetch and of the runtime's fetch that pass through, such as `headers`, `onRequest` or `dispatcher`. */
export type FetchExtras = Omit<FetchOptions, (typeof ownOptions)[number] | "timeout" | "retry">;

export interface RestPluginOptions extends FetchExtras {
  /** `http` or `https` URL that every path is appended to; no user name, query or fragment. Required. */
  baseUrl: string;
  /** Key that every request carries in `authHeader`. Without it, no such header is sent. */
  apiKey?: string;
  /** Name of the header with the key. Default `Authorization`. */
  authHeader?: string;
  /** What stands before the key, and a space; `""` sends the key alone. Default `Bearer`. */
  authPrefix?: string;
  /**
   * Seconds for a whole call: connection, redirects, retries, body, file. More than 0, at most 2,147,483; fractions
   * allowed. Default 30.
   */
  timeout?: number;
  /** Bytes of an answer after decompression; files of `downloadFile` have no limit. From 1. Default 10 MiB. */
  maxResponseBytes?: number;
  /** Tries after the first, or how to make them; GET, PUT and DELETE only. Default 0. */
  retry?: number | RetryOptions;
  /**
   * Other origins (`https://cdn.example.com`) that redirects may lead to, or `"any"`. The credential and every header
   * of the caller stay behind. Default none. Redirects within the origin are always followed, up to five.
   */
  redirectOrigins?: "any" | readonly string[];
  /**
   * Whether to refuse connections to addresses that are not public. Default `{ code: false, tools: true }`; a boolean
   * stands for both.
   */
  egressGuard?: boolean | EgressGuardOptions;
  /** Characters of a tool's result; a longer one is cut, with a note. From 200. Default 20,000. */
  toolResultMaxChars?: number;
}

export interface EgressGuardOptions {
  /** For `get`, `post` and the other methods. Default false. */
  code?: boolean;
  /** For `tools`. Default true. */
  tools?: boolean;
  /** Addresses and CIDR blocks that are let through though they are not public. Default none. */
  allowAddresses?: readonly string[];
  /**
   * Resolves a host name to its IP addresses. Default: the system's resolver. It is there for tests; its answers are
   * checked like any other.
   */
  resolve?: (hostname: string) => Promise<string[]>;
}

/** What one call can set for itself. */
export interface RequestOptions {
  /** Appended to the query of the path. */
  params?: QueryParams;
  /** Headers of this request, over those of the plugin; the credential stays. JSON is preferred unless `accept` is set. */
  headers?: HeadersInit;
  /** Seconds for the whole call; default that of the plugin. */
  timeout?: number;
  /** Ends the call with a RestError `aborted`. */
  signal?: AbortSignal;
}
