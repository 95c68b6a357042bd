/** Time limits and retries of requests to S3. */

export interface Timing {
  /** For a response; a request body adds to it by `minBytesPerSecond`. */
  timeoutMs: number;
  /** Between two pieces of a response body. */
  idleMs: number;
  minBytesPerSecond: number;
  /** Tries of a request, the first included. Those of a body count from its last progress. */
  attempts: number;
  /** Longest pause before the second attempt. It doubles with each attempt; the pause is random below it. */
  backoffMs: number;
  /** How long the result of a successful check is used, unless a request fails meanwhile. */
  checkMs: number;
  /** How long the result of a failed check is used. */
  failedCheckMs: number;
}

/** A request without a body fails after at most 42 s. */
export const standardTiming: Timing = {
  timeoutMs: 10_000,
  idleMs: 15_000,
  minBytesPerSecond: 64 * 1024,
  attempts: 4,
  backoffMs: 250,
  checkMs: 10_000,
  failedCheckMs: 1_000,
};
