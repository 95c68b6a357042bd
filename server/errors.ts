/**
 * The public error type is `ConnectError`: a code, a message for the caller and, for REST paths, a more exact HTTP status.
 * Callers see any other error as `internal`.
 */
import { Code, ConnectError } from "@connectrpc/connect";

/** The server cannot start. `advice` says in one line what to do. */
export class StartError extends Error {
  override readonly name: string = "StartError";
  readonly advice: string;

  constructor(message: string, advice: string, cause: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}

/** A service sets this header to override the HTTP status of its code on REST paths. It never leaves the server. */
export const statusHeader = "svc-http-status";

export interface FailOptions {
  /** The HTTP status on REST paths, if it differs from that of the code. */
  status?: number;
  /** Headers of the response. */
  headers?: Record<string, string>;
  /** For the log of the server; never sent. */
  cause?: unknown;
}

/** Creates a public error. `message` is one sentence: what could not be done, the rule, the value. */
export function fail(code: Code, message: string, options: FailOptions = {}): ConnectError {
  const metadata = new Headers(options.headers);
  if (options.status !== undefined) metadata.set(statusHeader, String(options.status));
  return new ConnectError(message, code, metadata, undefined, options.cause);
}

export const invalid = (message: string, options?: FailOptions): ConnectError =>
  fail(Code.InvalidArgument, message, options);
export const notFound = (message: string, options?: FailOptions): ConnectError =>
  fail(Code.NotFound, message, options);

/** Maps a thrown value to a public error; passes internal errors to `report`. */
export function toPublicError(thrown: unknown, report: (error: unknown) => void): ConnectError {
  if (thrown instanceof ConnectError && isPublic(thrown)) return thrown;
  if (isStoreFull(thrown)) {
    report(thrown);
    return fail(Code.Unavailable, "The service cannot write to its store at the moment.");
  }
  report(thrown);
  return fail(Code.Internal, "The service failed to process the request.");
}

/** An internal error is public only when a service set its status: the failure of an execution that the caller awaited. */
function isPublic({ code, metadata }: ConnectError): boolean {
  return (code !== Code.Internal && code !== Code.Unknown) || metadata.has(statusHeader);
}

/** SQLite's messages for a full disk, a read-only file and a lock timeout. */
function isStoreFull(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    /database or disk is full|readonly database|database is locked|disk I\/O error/i.test(thrown.message)
  );
}

const httpStatus: Record<Code, number> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** The HTTP status of an error on a REST path. */
export function statusOf(error: ConnectError): number {
  const exact = error.metadata.get(statusHeader);
  return exact === null ? httpStatus[error.code] : Number(exact);
}

/** The code as it is spelled in JSON, for example `invalid_argument`. */
function codeName(code: Code): string {
  return Code[code].replace(/[A-Z]/g, (letter, at) => (at > 0 ? "_" : "") + letter.toLowerCase());
}

/** The body of an error response on REST paths. */
export function errorJson(error: ConnectError): { code: string; message: string } {
  return { code: codeName(error.code), message: error.rawMessage };
}
