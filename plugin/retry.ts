import { invalidArgument, quote, type RestError } from "./error.ts";

export interface RetryOptions {
  /** Number of retries, 0 to 20. */
  attempts: number;
  /** Upper bound of the first delay in seconds; it doubles with every retry. Default 0.5. */
  delay?: number;
  /** Maximum delay in seconds. A longer `Retry-After` ends the retries. Default 30. */
  maxDelay?: number;
}

export interface RetryPolicy {
  attempts: number;
  delayMs: number;
  maxDelayMs: number;
}

/** Statuses after which a retry may succeed. */
const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** @throws RestError `invalid_argument` */
export function resolveRetry(retry: number | RetryOptions): RetryPolicy {
  const {
    attempts,
    delay = 0.5,
    maxDelay = 30,
  } = typeof retry === "number" ? { attempts: retry } : (retry ?? {});
  if (!Number.isInteger(attempts) || attempts < 0 || attempts > 20) {
    const value = typeof attempts === "number" ? attempts : quote(attempts);
    throw invalidArgument(
      `Cannot use retry: the number of retries must be an integer from 0 to 20, got ${value}`,
    );
  }
  for (const seconds of [delay, maxDelay]) {
    if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= 2_147_483)) {
      throw invalidArgument(
        `Cannot use retry: a delay must be seconds from 0 to 2147483, got ${String(seconds)}`,
      );
    }
  }
  return { attempts, delayMs: delay * 1000, maxDelayMs: maxDelay * 1000 };
}

/** Whether sending a request twice may have more effect than sending it once (RFC 9110, 9.2.2). */
export function isUnsafe(method: string): boolean {
  return method === "POST" || method === "PATCH";
}

/**
 * Returns the delay before a retry in milliseconds, or null for no retry: exponential with full jitter, and never
 * shorter than the server's `Retry-After`.
 *
 * @param attempt - number of the failed attempt, from 1
 */
export function retryDelayMs(policy: RetryPolicy, error: RestError, attempt: number): number | null {
  if (attempt > policy.attempts || error.method === null || isUnsafe(error.method)) return null;
  const transient =
    error.code === "network" || (error.code === "http" && transientStatuses.has(error.status ?? 0));
  if (!transient) return null;
  const backoffMs = Math.random() * Math.min(policy.maxDelayMs, policy.delayMs * 2 ** (attempt - 1));
  const retryAfterMs = (error.retryAfter ?? 0) * 1000;
  return retryAfterMs > policy.maxDelayMs ? null : Math.max(backoffMs, retryAfterMs);
}

/** Parses a `Retry-After` header, a number or a date (RFC 9110, 10.2.3), to seconds; null when missing or invalid. */
export function parseRetryAfter(value: string | null, nowMs: number = Date.now()): number | null {
  if (value === null) return null;
  if (/^\d{1,10}$/.test(value)) return Number(value);
  // The asctime format of a date names no zone, but is in GMT.
  const dateMs = /^[A-Z][a-z]{2,8},? /.test(value)
    ? Date.parse(value.endsWith("GMT") ? value : `${value} GMT`)
    : Number.NaN;
  return Number.isNaN(dateMs) ? null : Math.max(0, Math.ceil((dateMs - nowMs) / 1000));
}
