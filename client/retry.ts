/**
 * Repeats failed calls.
 *
 * The server attaches `RetryInfo` to a refusal that did nothing, so that every call may be repeated then. Other failures
 * are repeated only for `unavailable` and for calls that are safe to repeat. Pauses grow exponentially with full jitter,
 * as thundering herds need it, unless the server names one.
 */
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { RetryInfoSchema } from "../proto/google/rpc/error_details_pb.ts";
import type { RetryOptions } from "./types.ts";

const firstDelayMs = 100;

export interface RetryPolicy {
  attempts: number;
  maxDelayMs: number;
}

export function retryPolicy({ attempts = 4, maxDelayMs = 10_000 }: RetryOptions = {}): RetryPolicy {
  return { attempts, maxDelayMs };
}

/** Repeats unary calls. Streams are resumed by their readers. */
export function retries(policy: RetryPolicy): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const isSafe =
      request.method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN ||
      request.header.has("idempotency-key");
    return await withRetries(policy, isSafe, request.signal, () => next(request));
  };
}

/** Calls `run` until it succeeds, its error is final, or the tries are used up. */
export async function withRetries<T>(
  policy: RetryPolicy,
  isSafe: boolean,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      const delay = attempt >= policy.attempts ? null : delayBefore(error, isSafe, attempt, policy);
      if (delay === null || signal?.aborted) throw error;
      await sleep(delay, signal);
    }
  }
}

/** The pause before the next try in milliseconds; null when there is none. */
function delayBefore(
  error: ConnectError,
  isSafe: boolean,
  attempt: number,
  { maxDelayMs }: RetryPolicy,
): number | null {
  const mayRepeat = isRefusal(error) || (isSafe && error.code === Code.Unavailable);
  if (!mayRepeat) return null;
  const asked = retryAfterMs(error);
  if (asked === null) return backoffMs(attempt, maxDelayMs);
  // A little longer than the server asks for, so that its clients do not return at the same moment.
  const delay = asked + Math.random() * firstDelayMs;
  return asked > maxDelayMs ? null : delay;
}

/** Full jitter: between 0 and a limit that doubles with each try. */
export function backoffMs(attempt: number, maxDelayMs: number): number {
  return Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** attempt);
}

function isRefusal(error: ConnectError): boolean {
  return error.findDetails(RetryInfoSchema).length > 0;
}

/** The pause that the server asks for, from `RetryInfo` or the header `Retry-After` in seconds. */
export function retryAfterMs(error: ConnectError): number | null {
  const delay = error.findDetails(RetryInfoSchema)[0]?.retryDelay;
  if (delay !== undefined) return Number(delay.seconds) * 1000 + delay.nanos / 1e6;
  const header = error.metadata.get("retry-after");
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) * 1000 : null;
}

/** @throws the reason of the signal */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
