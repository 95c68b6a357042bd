/**
 * Reason of a failure, from a closed set:
 *
 * - `invalid_argument`: an option, a path or an argument is invalid; nothing was sent
 * - `http`: the server responded with a status other than 2xx
 * - `invalid_response`: the response is declared as JSON and is not valid JSON
 * - `response_too_large`: the response exceeds `maxResponseBytes`
 * - `timeout`: the call exceeded its timeout
 * - `aborted`: the caller's signal, a hook or `onProgress` aborted the call
 * - `closed`: the plugin was closed
 * - `network`: the connection failed or broke
 * - `redirect`: the response redirects to a location that is not allowed
 * - `egress`: the egress guard refused the address
 * - `file`: the local file could not be read or written
 * - `not_installed`: ofetch is not installed
 * - `unsupported`: the runtime lacks a required builtin, for example files in a browser
 */
export type RestErrorCode =
  | "invalid_argument"
  | "http"
  | "invalid_response"
  | "response_too_large"
  | "timeout"
  | "aborted"
  | "closed"
  | "network"
  | "redirect"
  | "egress"
  | "file"
  | "not_installed"
  | "unsupported";

export interface RestErrorDetails {
  status?: number | null;
  headers?: Headers | null;
  body?: unknown;
  method?: string | null;
  url?: string | null;
  retryAfter?: number | null;
  cause?: unknown;
}

/** Method and URL of a request as they appear in errors; secrets in the URL are redacted. */
export interface RequestLine {
  method: string;
  url: string;
}

/** The error that the plugin throws. Neither its message nor its URL contains the API key. */
export class RestError extends Error {
  override readonly name: string = "RestError";
  readonly code: RestErrorCode;
  /** HTTP status of the response; null without a response. */
  readonly status: number | null;
  /** Headers of the response; null without a response. */
  readonly headers: Headers | null;
  /** Body of the response, parsed like that of a success; null when it is empty, too large or unreadable. */
  readonly body: unknown;
  /**
   * Reason of the `google.rpc.ErrorInfo` in an error JSON of Connect, for example `RESOURCE_NOT_FOUND`; null when the body
   * has none. Branch on it and not on the message.
   */
  readonly reason: string | null;
  /** Method of the request; null when the error precedes the request. */
  readonly method: string | null;
  /** URL of the request with secrets redacted; null when the error precedes the request. */
  readonly url: string | null;
  /** Seconds to wait before a retry, from `Retry-After` of a 429 or 503 (RFC 9110, 10.2.3); otherwise null. */
  readonly retryAfter: number | null;

  constructor(code: RestErrorCode, message: string, details: RestErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.headers = details.headers ?? null;
    this.body = details.body ?? null;
    this.reason = reasonOf(this.body);
    this.method = details.method ?? null;
    this.url = details.url ?? null;
    this.retryAfter = details.retryAfter ?? null;
  }
}

/** The body comes from a server that may be hostile: every part may have another type. */
function reasonOf(body: unknown): string | null {
  const details = property(body, "details");
  if (!Array.isArray(details)) return null;
  const info = details.find((detail) => property(detail, "type") === "google.rpc.ErrorInfo");
  const reason = property(property(info, "debug"), "reason");
  return typeof reason === "string" ? reason : null;
}

function property(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Whether a thrown value is a RestError. Structural, because a program may load two copies of this module. */
export function isRestError(value: unknown): value is RestError {
  return value instanceof Error && value.name === "RestError" && "code" in value && "retryAfter" in value;
}

/** @param message - what could not be done, the rule, the value */
export function invalidArgument(message: string, cause?: unknown): RestError {
  return new RestError("invalid_argument", message, { cause });
}

/** The error for a failed request; a RestError stays as it is. */
export function networkError(error: unknown, line: RequestLine): RestError {
  if (error instanceof RestError) return error;
  // `fetch` of Node hides the reason in the cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const message = messageOf(cause) || code || "no connection";
  return new RestError("network", `${line.method} ${line.url} failed: ${message}`, { ...line, cause: error });
}

/** Formats an untrusted value for a message: quoted and truncated. */
export function quote(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  return JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Replaces secrets in a text by `***`. */
export function redact(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) shown = shown.replaceAll(secret, "***");
  return shown;
}
