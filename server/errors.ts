/**
 * The public error type is `ConnectError`: a code, a message for the caller, details and, for REST paths, a more exact HTTP
 * status. Each error has the detail `ErrorInfo` with a reason of `errors/reasons.ts`.
 * Callers see any other error as `internal`.
 */
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJson } from "@connectrpc/connect/protocol-connect";
import {
  badRequest,
  type Detail,
  errorInfo,
  hasReason,
  preconditionFailure,
  resourceInfo,
  retryInfo,
} from "./errors/details.ts";
import { genericReason, type Reason, reasons } from "./errors/reasons.ts";

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
  /** The HTTP status on REST paths, if it differs from that of the reason. */
  status?: number;
  /** Headers of the response. `retry-after` in seconds also becomes a detail. */
  headers?: Record<string, string>;
  /** Metadata of the reason. */
  metadata?: Record<string, string>;
  /** Further details. */
  details?: readonly Detail[];
  /** For the log of the server; never sent. */
  cause?: unknown;
}

/**
 * Creates a public error. `message` is one sentence: what could not be done, the rule, the value.
 *
 * @param reason - a code stands for the generic reason of that code
 */
export function fail(reason: Reason | Code, message: string, options: FailOptions = {}): ConnectError {
  const named = typeof reason === "string" ? reason : genericReason(reason);
  const row = reasons[named];
  const headers = new Headers(options.headers);
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  const status = options.status ?? row.status;
  if (status !== undefined) headers.set(statusHeader, String(status));
  const code = typeof reason === "string" ? row.code : reason;
  const error = new ConnectError(message, code, headers, undefined, options.cause);
  error.details.push(errorInfo(named, options.metadata), ...(options.details ?? []));
  if (Number.isSafeInteger(retryAfter)) error.details.push(retryInfo(retryAfter));
  return error;
}

export const invalid = (message: string, options?: FailOptions): ConnectError =>
  fail("INVALID_ARGUMENT", message, options);
export const notFound = (message: string, options?: FailOptions): ConnectError =>
  fail("NOT_FOUND", message, options);

/** The error for a resource that the organization does not have. */
export function noResource(type: string, name: string, message: string): ConnectError {
  return fail("RESOURCE_NOT_FOUND", message, {
    metadata: { resource_type: type },
    details: [resourceInfo(type, name)],
  });
}

/** The error for a resource whose state does not allow the request. */
export function wrongState(reason: Reason, type: string, name: string, message: string): ConnectError {
  return fail(reason, message, {
    metadata: { resource_type: type },
    details: [preconditionFailure(reason, `${type}/${name}`, message), resourceInfo(type, name)],
  });
}

/** The error for one invalid field. */
export function invalidField(field: string, rule: string, message: string): ConnectError {
  return fail("INVALID_FIELD", message, {
    metadata: { field },
    details: [badRequest([{ field, description: message, reason: rule }])],
  });
}

/** Maps a thrown value to a public error; passes internal errors to `report`. */
export function toPublicError(thrown: unknown, report: (error: unknown) => void): ConnectError {
  if (thrown instanceof ConnectError && isPublic(thrown)) return withReason(thrown);
  if (isDiskFull(thrown)) {
    report(thrown);
    const headers = { "retry-after": "10" };
    return fail("STORE_UNAVAILABLE", "The service cannot store the request: its disk is full.", { headers });
  }
  if (isReadOnly(thrown)) {
    report(thrown);
    return fail("STORE_UNAVAILABLE", "The service cannot write to its store at the moment.");
  }
  if (thrown instanceof Error && thrown.name === "StoreLost") {
    report(thrown);
    // Without `retry-after`: clients would repeat a call that may have happened.
    return fail(
      "OUTCOME_UNKNOWN",
      "The service lost its store while it stored the request, which may have happened.",
    );
  }
  if (thrown instanceof Error && thrown.name === "StoreUnavailable") {
    report(thrown);
    const headers = { "retry-after": "1" };
    return fail("STORE_UNAVAILABLE", "The service cannot reach its store at the moment.", { headers });
  }
  report(thrown);
  return fail("INTERNAL", "The service failed to process the request.");
}

/** Errors of the libraries have a code only. */
export function withReason(error: ConnectError): ConnectError {
  if (!hasReason(error)) error.details.push(errorInfo(genericReason(error.code)));
  return error;
}

/** An internal error is public only when a service set its status: the failure of an execution that the caller awaited. */
function isPublic({ code, metadata }: ConnectError): boolean {
  return (code !== Code.Internal && code !== Code.Unknown) || metadata.has(statusHeader);
}

/** SQLite's messages for a full disk, a read-only file and a lock timeout. */
/** Whether a write failed for lack of space: in the store, or in the files of packages. */
export function isDiskFull(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const code = "code" in thrown ? thrown.code : undefined;
  return code === "ENOSPC" || code === "EDQUOT" || /database or disk is full/i.test(thrown.message);
}

function isReadOnly(thrown: unknown): boolean {
  return (
    thrown instanceof Error && /readonly database|database is locked|disk I\/O error/i.test(thrown.message)
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

/** The HTTP status of a code. */
export function httpStatusOf(code: Code): number {
  return httpStatus[code];
}

/** The HTTP status of an error on a REST path. */
export function statusOf(error: ConnectError): number {
  const exact = error.metadata.get(statusHeader);
  return exact === null ? httpStatus[error.code] : Number(exact);
}

/** The same as for the RPC protocols: names of the contract, and every field. */
const debugOptions = { useProtoFieldName: true, alwaysEmitImplicit: true };

export interface Failure {
  /** One sentence. */
  message: string;
  /** The rules of a schema that the input or output violates. */
  violations: readonly { field: string; description: string }[];
}

/** The error for a caller that waited for an execution, which failed. */
export function executionFailed(
  { message, violations }: Failure,
  executionId: string,
  options: FailOptions = {},
): ConnectError {
  const metadata = { execution_id: executionId };
  return fail("EXECUTION_FAILED", message, { ...options, metadata, details: schemaDetails(violations) });
}

/** The detail for rules of a schema that an input or output violates. */
export function schemaDetails(violations: Failure["violations"]): Detail[] {
  if (violations.length === 0) return [];
  return [badRequest(violations.map((violation) => ({ ...violation, reason: "SCHEMA" })))];
}

/** The body of the response to a caller that waited for an execution, which failed. */
export function executionFailure(failure: Failure, executionId: string): JsonValue {
  const error = executionFailed(failure, executionId);
  return { ...(errorJson(error) as JsonObject), execution_id: executionId };
}

/** The body of an error response: the error JSON of the Connect protocol, with the details and their JSON in `debug`. */
export function errorJson(error: ConnectError): JsonValue {
  return errorToJson(error, debugOptions);
}
