/**
 * What went wrong, from a closed set:
 *
 * - `invalid_argument`: an option, a path or an argument is wrong; nothing was sent
 * - `http`: the server answered with a status other than 2xx
 * - `invalid_response`: the answer says it is JSON and is not
 * - `response_too_large`: the answer is over `maxResponseBytes`
 * - `timeout`: the call took longer than its timeout
 * - `aborted`: the caller's signal was aborted
 * - `closed`: the plugin was closed
 * - `network`: no connection, or it broke
 * - `redirect`: a redirect that may not be followed
 * - `egress`: the egress guard refused the address
 * - `file`: the local file could not be read or written
 * - `not_installed`: ofetch is missing
 * - `unsupported`: this runtime cannot do it, for example files in a browser
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

/** The error that the plugin throws. Neither its message nor its URL holds the credential. */
export class RestError extends Error {
  override readonly name: string = "RestError";
  readonly code: RestErrorCode;
  /** HTTP status of the answer; null when none arrived. */
  readonly status: number | null;
  /** Headers of the answer; null when none arrived. */
  readonly headers: Headers | null;
  /** Body of the answer, parsed as a successful one would be; null when empty, too large or unreadable. */
  readonly body: unknown;
  /** Method of the request; null when there was none yet. */
  readonly method: string | null;
  /** URL of the request, without credentials; null when there was none yet. */
  readonly url: string | null;
  /** Seconds to wait before the next try, from `Retry-After` of a 429 or 503 (RFC 9110, 10.2.3); null without. */
  readonly retryAfter: number | null;

  constructor(code: RestErrorCode, message: string, details: RestErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.headers = details.headers ?? null;
    this.body = details.body ?? null;
    this.method = details.method ?? null;
    this.url = details.url ?? null;
    this.retryAfter = details.retryAfter ?? null;
  }
}

/** Whether a thrown value is a RestError, whichever copy of this module made it. */
export function isRestError(value: unknown): value is RestError {
  return value instanceof Error && value.name === "RestError" && "code" in value && "retryAfter" in value;
}

/** Shorthand for the commonest error: what could not be done, the rule, the value. */
export function invalidArgument(message: string, cause?: unknown): RestError {
  return new RestError("invalid_argument", message, { cause });
}

/** A value of unknown origin as it may stand in a message: quoted and cut. */
export function quote(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  return JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value);
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
