import { type AddressBlock, parseBlock } from "./address.ts";
import { invalidArgument, quote } from "./error.ts";
import { type FetchExtras, ownOptions, type RestPluginOptions } from "./options.ts";
import { type BaseUrl, parseBaseUrl } from "./path.ts";
import { type RetryPolicy, resolveRetry } from "./retry.ts";

/** The options after validation, with every default. */
export interface Settings {
  base: BaseUrl;
  /** Headers of every request, the credential among them. Nobody changes them. */
  headers: Headers;
  /** The same for a request with a JSON body. */
  jsonHeaders: Headers;
  /** Lower-case name of the header with the credential; null without one. */
  authHeader: string | null;
  /** Texts that no model may see: the credential and its like, as they are and as they stand in a URL. */
  secretForms: string[];
  timeoutMs: number;
  maxResponseBytes: number;
  retry: RetryPolicy;
  redirectOrigins: "any" | ReadonlySet<string>;
  guardCode: boolean;
  guardTools: boolean;
  allowAddresses: AddressBlock[];
  resolve: ((hostname: string) => Promise<string[]>) | null;
  toolResultMaxChars: number;
  /** Handed to ofetch with every request. */
  extras: Omit<FetchExtras, "headers">;
}

/**
 * Checks the options and fills in the defaults.
 *
 * @throws RestError `invalid_argument`; its message never holds the key
 */
export function resolveOptions(options: RestPluginOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw invalidArgument(`Cannot create the plugin: it takes an object of options, got ${quote(options)}`);
  }
  const {
    baseUrl,
    apiKey,
    authHeader = "Authorization",
    authPrefix = "Bearer",
    timeout = 30,
    maxResponseBytes = 10 * 1024 * 1024,
    retry = 0,
    redirectOrigins = [],
    egressGuard = {},
    toolResultMaxChars = 20_000,
    headers,
    ...extras
  } = options;
  for (const name of ownOptions) {
    if (name in extras) {
      throw invalidArgument(
        `Cannot create the plugin: the option ${name} of ofetch is decided by the plugin`,
      );
    }
  }
  const guard = typeof egressGuard === "boolean" ? { code: egressGuard, tools: egressGuard } : egressGuard;
  const merged = toHeaders(headers);
  const secrets = secretsIn(merged);
  if (apiKey !== undefined) {
    merged.set(...credential(apiKey, authHeader, authPrefix));
    secrets.unshift(apiKey);
  }
  if (!merged.has("accept")) merged.set("accept", "application/json, */*;q=0.8");
  const jsonHeaders = new Headers(merged);
  if (!jsonHeaders.has("content-type")) jsonHeaders.set("content-type", "application/json");
  return {
    base: parseBaseUrl(baseUrl),
    headers: merged,
    jsonHeaders,
    authHeader: apiKey === undefined ? null : authHeader.toLowerCase(),
    secretForms: [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))],
    timeoutMs: timeoutMs(timeout),
    maxResponseBytes: integer("maxResponseBytes", maxResponseBytes, 1),
    retry: resolveRetry(retry),
    redirectOrigins: redirectOrigins === "any" ? "any" : new Set(redirectOrigins.map(toOrigin)),
    guardCode: guard.code ?? false,
    guardTools: guard.tools ?? true,
    allowAddresses: (guard.allowAddresses ?? []).map(toBlock),
    resolve: guard.resolve ?? null,
    toolResultMaxChars: integer("toolResultMaxChars", toolResultMaxChars, 200),
    extras,
  };
}

/**
 * Milliseconds of a timeout in seconds.
 *
 * @throws RestError `invalid_argument`
 */
export function timeoutMs(seconds: number): number {
  // Timers hold 31 bits of milliseconds; a longer one would fire at once.
  if (typeof seconds === "number" && seconds > 0 && seconds <= 2_147_483) return Math.ceil(seconds * 1000);
  const value = typeof seconds === "number" ? seconds : quote(seconds);
  throw invalidArgument(`Cannot use the timeout: it must be seconds above 0, at most 2147483, got ${value}`);
}

/**
 * Headers from what a caller gave.
 *
 * @throws RestError `invalid_argument`, without the values, which may be secret
 */
export function toHeaders(init: HeadersInit | undefined): Headers {
  try {
    return new Headers(init);
  } catch {
    throw invalidArgument(
      "Cannot use the headers: a name or a value holds what HTTP forbids (RFC 9110, 5.5)",
    );
  }
}

function credential(apiKey: string, header: string, prefix: string): [string, string] {
  if (typeof apiKey !== "string" || apiKey === "") {
    throw invalidArgument(
      "Cannot use the apiKey: it must be a string that is not empty; leave it out for no header",
    );
  }
  if (typeof header !== "string" || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(header)) {
    throw invalidArgument(
      `Cannot use the authHeader: it must be a header name (RFC 9110, 5.1), got ${quote(header)}`,
    );
  }
  if (
    /^(?:host|connection|content-length|content-type|transfer-encoding|expect|upgrade|te|trailer)$/i.test(
      header,
    )
  ) {
    throw invalidArgument(`Cannot use the authHeader: HTTP itself needs ${header}`);
  }
  if (typeof prefix !== "string") {
    throw invalidArgument(`Cannot use the authPrefix: it must be a string, got ${quote(prefix)}`);
  }
  const value = prefix === "" ? apiKey : `${prefix} ${apiKey}`;
  if (!/^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value)) {
    throw invalidArgument(
      "Cannot use the apiKey: with its prefix it must be one line of visible Latin-1 characters, without spaces around it",
    );
  }
  return [header, value];
}

/** Values of headers that look like credentials, and their last words (`abc` of `Bearer abc`). */
function secretsIn(headers: Headers): string[] {
  const secrets: string[] = [];
  for (const [name, value] of headers) {
    if (/auth|cookie|key|token|secret|password|signature/i.test(name)) {
      secrets.push(value, value.split(" ").at(-1) ?? value);
    }
  }
  return secrets.filter((secret) => secret.length >= 4);
}

function toOrigin(text: string): string {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url && (url.protocol === "http:" || url.protocol === "https:") && `${url.origin}/` === url.href) {
    return url.origin;
  }
  throw invalidArgument(
    `Cannot use redirectOrigins: each must be an origin such as https://cdn.example.com, got ${quote(text)}`,
  );
}

function toBlock(text: string): AddressBlock {
  const block = typeof text === "string" ? parseBlock(text, "allowed") : null;
  if (block) return block;
  throw invalidArgument(
    `Cannot use allowAddresses: each must be an IP address or a CIDR block, got ${quote(text)}`,
  );
}

function integer(name: string, value: number, from: number): number {
  if (Number.isSafeInteger(value) && value >= from) return value;
  throw invalidArgument(`Cannot use ${name}: it must be an integer from ${from}, got ${String(value)}`);
}
