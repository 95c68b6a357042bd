/**
 * The one error type of the service is Connect's: a code, a message for the caller and, here, the more exact HTTP status
 * that the REST paths answer with. Everything else that is thrown is `internal` to the outside.
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

/** Header by which a service tells the REST transcoder a status other than its code's; removed before the answer. */
export const statusHeader = "svc-http-status";

export interface FailOptions {
  /** The HTTP status on REST paths, where it is more exact than the code's own. */
  status?: number;
  /** Headers of the answer. */
  headers?: Record<string, string>;
  /** Kept for the server's own log. */
  cause?: unknown;
}

/** Makes the error that a service throws. `message` is one sentence for the caller: what, the rule, the value. */
export function fail(code: Code, message: string, options: FailOptions = {}): ConnectError {
  const metadata = new Headers(options.headers);
  if (options.status !== undefined) metadata.set(statusHeader, String(options.status));
  return new ConnectError(message, code, metadata, undefined, options.cause);
}

export const invalid = (message: string, options?: FailOptions): ConnectError =>
  fail(Code.InvalidArgument, message, options);
export const notFound = (message: string, options?: FailOptions): ConnectError =>
  fail(Code.NotFound, message, options);

/** Maps whatever was thrown to what the outside may see; `report` gets what it may not. */
export function toPublicError(thrown: unknown, report: (error: unknown) => void): ConnectError {
  if (thrown instanceof ConnectError && thrown.code !== Code.Internal && thrown.code !== Code.Unknown) {
    return thrown;
  }
  if (isStoreFull(thrown)) {
    report(thrown);
    return fail(Code.Unavailable, "The service cannot store anything at the moment.");
  }
  report(thrown);
  return fail(Code.Internal, "The service failed to answer this request.");
}

/** SQLite's own words for a full disk, a read-only file and a lock that did not come free. */
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
export function codeName(code: Code): string {
  return Code[code].replace(/[A-Z]/g, (letter, at) => (at > 0 ? "_" : "") + letter.toLowerCase());
}

/** The body of every error answer outside gRPC. */
export function errorJson(error: ConnectError): { code: string; message: string } {
  return { code: codeName(error.code), message: error.rawMessage };
}
