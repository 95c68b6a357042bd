import { parseCidr } from "./address.ts";
import { invalidArgument, quote } from "./error.ts";
import { type FetchExtras, type HeaderValues, type RestPluginOptions, reservedOptions } from "./options.ts";
import { type BaseUrl, parseBaseUrl } from "./path.ts";
import { type RetryPolicy, resolveRetry } from "./retry.ts";

/** The validated options with defaults applied. */
export interface Settings {
  base: BaseUrl;
  /** Headers of every request by lower-case name, including the API key. */
  headers: Readonly<Record<string, string>>;
  /** Lower-case name of the header with the API key; null without a key. */
  authHeader: string | null;
  /** The API key and values of similar headers, plain and percent-encoded, to redact from URLs and tool results. */
  secrets: string[];
  timeoutMs: number;
  maxResponseBytes: number;
  retry: RetryPolicy;
  redirectOrigins: "any" | ReadonlySet<string>;
  guardCode: boolean;
  guardTools: boolean;
  allowAddresses: readonly string[];
  resolve: ((hostname: string) => Promise<string[]>) | null;
  toolResultMaxChars: number;
  /** Passed to ofetch with every request. */
  extras: Omit<FetchExtras, "headers">;
}

/**
 * Validates the options and applies the defaults.
 *
 * @throws RestError `invalid_argument`; the message never contains the key
 */
export function resolveOptions(options: RestPluginOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw invalidArgument(`Cannot create the plugin: the options must be an object, got ${quote(options)}`);
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
    headers: givenHeaders,
    ...extras
  } = options;
  const reserved = reservedOptions.find((name) => name in extras);
  if (reserved) {
    throw invalidArgument(`Cannot create the plugin: the option ${reserved} is reserved for the plugin`);
  }
  const guard = typeof egressGuard === "boolean" ? { code: egressGuard, tools: egressGuard } : egressGuard;
  const headers = toHeaders(givenHeaders);
  const secrets = secretValues(headers);
  if (apiKey !== undefined) {
    headers.set(authHeader, credential(apiKey, authHeader, authPrefix));
    secrets.push(apiKey);
  }
  if (!headers.has("accept")) headers.set("accept", "application/json, */*;q=0.8");
  return {
    base: parseBaseUrl(baseUrl),
    headers: Object.fromEntries(headers),
    authHeader: apiKey === undefined ? null : authHeader.toLowerCase(),
    // The longest first, so that a secret inside another one leaves no remainder.
    secrets: [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))].toSorted(
      (a, b) => b.length - a.length,
    ),
    timeoutMs: timeoutMs(timeout),
    maxResponseBytes: integer("maxResponseBytes", maxResponseBytes, 1),
    retry: resolveRetry(retry),
    redirectOrigins: redirectOrigins === "any" ? "any" : new Set(redirectOrigins.map(toOrigin)),
    guardCode: guard.code ?? false,
    guardTools: guard.tools ?? true,
    allowAddresses: (guard.allowAddresses ?? []).map(checkCidr),
    resolve: guard.resolve ?? null,
    toolResultMaxChars: integer("toolResultMaxChars", toolResultMaxChars, 200),
    extras,
  };
}

/**
 * Converts a timeout from seconds to milliseconds.
 *
 * @throws RestError `invalid_argument`
 */
export function timeoutMs(seconds: number): number {
  // Timers take at most 2^31-1 ms; a longer one would fire immediately.
  if (typeof seconds === "number" && seconds > 0 && seconds <= 2_147_483) return Math.ceil(seconds * 1000);
  const value = typeof seconds === "number" ? seconds : quote(seconds);
  throw invalidArgument(`Cannot use the timeout: it must be seconds above 0, at most 2147483, got ${value}`);
}

/** @throws RestError `invalid_argument`, without the values, which may be secret */
export function toHeaders(init: HeaderValues | undefined): Headers {
  try {
    return new Headers(init);
  } catch {
    throw invalidArgument(
      "Cannot use the headers: a name or a value contains characters that HTTP forbids (RFC 9110, 5.5)",
    );
  }
}

const reservedHeaders =
  /^(?:host|connection|content-length|content-type|transfer-encoding|expect|upgrade|te|trailer)$/i;

/** The value of the header with the key. */
function credential(apiKey: string, header: string, prefix: string): string {
  if (typeof apiKey !== "string" || apiKey === "") {
    throw invalidArgument("Cannot use the apiKey: it must be a string that is not empty");
  }
  if (typeof header !== "string" || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(header)) {
    throw invalidArgument(
      `Cannot use the authHeader: it must be a header name (RFC 9110, 5.1), got ${quote(header)}`,
    );
  }
  if (reservedHeaders.test(header)) {
    throw invalidArgument(`Cannot use the authHeader: HTTP itself uses ${header}`);
  }
  if (typeof prefix !== "string") {
    throw invalidArgument(`Cannot use the authPrefix: it must be a string, got ${quote(prefix)}`);
  }
  const value = prefix === "" ? apiKey : `${prefix} ${apiKey}`;
  if (!/^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value)) {
    throw invalidArgument(
      "Cannot use the apiKey: with its prefix it must be one line of Latin-1 characters without surrounding spaces",
    );
  }
  return value;
}

/** Values of headers that look like credentials, and their last words (`abc` of `Bearer abc`). */
function secretValues(headers: Headers): string[] {
  return [...headers]
    .filter(([name]) => /auth|cookie|key|token|secret|password|signature/i.test(name))
    .flatMap(([, value]) => [value, value.split(" ").at(-1) ?? value])
    .filter((secret) => secret.length >= 4);
}

function toOrigin(text: string): string {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href) return url.origin;
  throw invalidArgument(
    `Cannot use redirectOrigins: each must be an origin such as https://cdn.example.com, got ${quote(text)}`,
  );
}

function checkCidr(text: string): string {
  if (typeof text === "string" && parseCidr(text)) return text;
  throw invalidArgument(
    `Cannot use allowAddresses: each must be an IP address or a CIDR block, got ${quote(text)}`,
  );
}

function integer(name: string, value: number, min: number): number {
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw invalidArgument(`Cannot use ${name}: it must be an integer from ${min}, got ${String(value)}`);
}
