import type { QueryParams } from "./path.ts";
import type { RetryOptions } from "./retry.ts";

/** Options of ofetch and `fetch` that the plugin sets itself. */
export const reservedOptions = [
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

/** Options of some runtimes' `fetch` that uploads and guarded requests, which do not use it, refuse. */
export const fetchOnlyOptions = [
  "agent",
  "client",
  "dispatcher",
  "integrity",
  "proxy",
  "tls",
  "unix",
] as const;

/** Headers by name. Declared here, because the types of Node have no global `HeadersInit`. */
export type HeaderValues = Headers | Record<string, string> | [string, string][];

/** Context of an ofetch hook. The types are declared here because those of ofetch need the package undici. */
export interface HookContext {
  /** URL of the request. A hook may change it within the origin of the base URL. */
  request: string | URL | Request;
  /** Options of the request; a hook may change `headers`. */
  options: { headers: Headers; [name: string]: unknown };
}

type Hook<Extra = unknown> = (context: HookContext & Extra) => void | Promise<void>;

type Replaced = (typeof reservedOptions)[number] | (typeof fetchOnlyOptions)[number];

/** Options that are passed to ofetch and to the `fetch` of the runtime. */
export interface FetchExtras
  extends Omit<RequestInit, Replaced | "headers" | "timeout">,
    Partial<Record<(typeof fetchOnlyOptions)[number], unknown>> {
  /** Headers of every request. Default none. */
  headers?: HeaderValues;
  /** Called before each attempt. */
  onRequest?: Hook | Hook[];
  /** Called when an attempt gets no response. */
  onRequestError?: Hook<{ error: Error }> | Hook<{ error: Error }>[];
  /** Called with the final response of an attempt, after redirects. */
  onResponse?: Hook<{ response: Response }> | Hook<{ response: Response }>[];
  /** Called with a final response whose status is 400 or above. */
  onResponseError?: Hook<{ response: Response }> | Hook<{ response: Response }>[];
}

export interface RestPluginOptions extends FetchExtras {
  /** Absolute `http` or `https` URL without user name, query or fragment. Every path is appended to it. Required. */
  baseUrl: string;
  /** API key, sent with every request in the header `authHeader`. Default: no key and no header. */
  apiKey?: string;
  /** Name of the header that carries the key. Default `Authorization`. */
  authHeader?: string;
  /** Prefix of the key, separated from it by a space. `""` sends the key alone. Default `Bearer`. */
  authPrefix?: string;
  /**
   * Timeout of a whole call in seconds, including redirects, retries, body and file. Above 0, at most 2,147,483;
   * fractions allowed. Default 30.
   */
  timeout?: number;
  /** Maximum size of a response body in bytes, after decompression, from 1. Not applied to downloads. Default 10 MiB. */
  maxResponseBytes?: number;
  /** Number of retries, or a retry policy. Only GET, PUT and DELETE are retried. Default 0. */
  retry?: number | RetryOptions;
  /**
   * Other origins (`https://cdn.example.com`) that redirects may lead to, or `"any"`. The key and the caller's headers
   * are not sent there. Up to five redirects are followed. Default: only redirects within the origin.
   */
  redirectOrigins?: "any" | readonly string[];
  /**
   * Refuses connections to addresses that are not public. A boolean sets both `code` and `tools`. Default
   * `{ code: false, tools: true }`.
   */
  egressGuard?: boolean | EgressGuardOptions;
  /** Maximum length of a tool result in characters, from 200. A longer result is truncated. Default 20,000. */
  toolResultMaxChars?: number;
}

export interface EgressGuardOptions {
  /** Guards `get`, `post` and the other methods. Default false. */
  code?: boolean;
  /** Guards `tools`. Default true. */
  tools?: boolean;
  /** IP addresses and CIDR blocks that are allowed although they are not public. Default none. */
  allowAddresses?: readonly string[];
  /** Resolves a host name to IP addresses, which are then checked. Default: the resolver of the operating system. */
  resolve?: (hostname: string) => Promise<string[]>;
}

/** Options of one call. */
export interface RequestOptions {
  /** Query parameters, appended to the query of the path. */
  params?: QueryParams;
  /** Headers of this request. They override the plugin's headers, except the header with the key. */
  headers?: HeaderValues;
  /** Timeout of the whole call in seconds. Default: the plugin's timeout. */
  timeout?: number;
  /** Aborts the call, which then throws a RestError `aborted`. */
  signal?: AbortSignal;
}

export interface TransferProgress {
  /** Bytes of the file transferred so far. */
  transferredBytes: number;
  /** Size of the file in bytes; null when the server does not declare it. */
  totalBytes: number | null;
}

export interface TransferOptions extends RequestOptions {
  /** Called after each chunk of the file. An exception in it aborts the transfer with a RestError `aborted`. */
  onProgress?: (progress: TransferProgress) => void;
}

export interface UploadOptions extends TransferOptions {
  /** Media type of the file. Default `application/octet-stream`. */
  contentType?: string;
}
