/** The one error type of the client, and the conversion of others to it. */
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../proto/google/rpc/error_details_pb.ts";
import { retryAfterMs } from "./retry.ts";
import type { Execution } from "./types.ts";

export interface FieldViolation {
  /** Path of the field in the request. */
  field: string;
  description: string;
}

export interface SvcErrorOptions {
  code: string;
  reason?: string | undefined;
  executionId?: string | undefined;
  execution?: Execution | undefined;
  violations?: readonly FieldViolation[] | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** A call or an execution failed. Decide by `code` and `reason`; show `message` to people. */
export class SvcError extends Error {
  override readonly name: string = "SvcError";
  /** For example `not_found`; the codes of Connect and gRPC. */
  readonly code: string;
  /** Why, in capitals, for example `EXECUTION_FAILED`. Empty when the server sent none. */
  readonly reason: string;
  /** The execution that the call started or concerned. */
  readonly executionId: string | undefined;
  /** The execution that failed or was cancelled. */
  readonly execution: Execution | undefined;
  /** Invalid fields of the request, and rules of a schema that the input or output of a failed execution violates. */
  readonly violations: readonly FieldViolation[];
  /** The pause that the server asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: SvcErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.reason = options.reason ?? "";
    this.executionId = options.executionId;
    this.execution = options.execution;
    this.violations = options.violations ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Whether a value is an error of this client, also of another copy of it. */
export function isSvcError(value: unknown): value is SvcError {
  return value instanceof Error && value.name === "SvcError" && "code" in value && "reason" in value;
}

/** Reasons of the client itself. */
export const reasons = {
  executionFailed: "EXECUTION_FAILED",
  executionCancelled: "EXECUTION_CANCELLED",
  waitExpired: "WAIT_EXPIRED",
  unreachable: "UNREACHABLE",
} as const;

/** The code as it is spelled in JSON, for example `invalid_argument`. */
export function codeName(code: Code): string {
  return Code[code].replace(/[A-Z]/g, (letter, at) => (at > 0 ? "_" : "") + letter.toLowerCase());
}

/**
 * Converts a failed call.
 * @param signal - its reason is returned when it has ended the call
 */
export function toSvcError(thrown: unknown, signal?: AbortSignal, executionId?: string): unknown {
  if (signal?.aborted) return signal.reason;
  if (isSvcError(thrown)) return thrown;
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  return new SvcError(error.rawMessage, {
    code: codeName(error.code),
    reason: info?.reason ?? (isUnreachable(error) ? reasons.unreachable : undefined),
    executionId,
    violations: error
      .findDetails(BadRequestSchema)
      .flatMap(({ fieldViolations }) =>
        fieldViolations.map(({ field, description }) => ({ field, description })),
      ),
    retryAfterMs: retryAfterMs(error) ?? undefined,
    cause: error,
  });
}

/** The error of an execution that ended without success. */
export function executionError(execution: Execution): SvcError {
  const { executionId, name, status, error } = execution;
  const isCancelled = status === "cancelled";
  const message = isCancelled
    ? `${name} was cancelled.`
    : `${name} failed: ${error?.name ?? "Error"}: ${error?.message ?? "unknown"}`;
  return new SvcError(message, {
    code: isCancelled ? "canceled" : "internal",
    reason: isCancelled ? reasons.executionCancelled : reasons.executionFailed,
    executionId,
    execution,
    violations: error?.violations,
  });
}

/** The request got no response. `ConnectError.from` keeps this error as it is. */
export function unreachable(url: string, cause: unknown): ConnectError {
  const { origin } = new URL(url);
  return new ConnectError(`Cannot reach ${origin}.`, Code.Unavailable, undefined, undefined, cause);
}

function isUnreachable(error: ConnectError): boolean {
  return error.cause !== undefined && error.rawMessage.startsWith("Cannot reach ");
}
