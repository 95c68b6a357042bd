/** The delay before a retry. */
import type { RetryPolicy } from "../../project/definition.ts";

/** The policy with as many retries and no delays. */
export function withoutDelay(policy: RetryPolicy): RetryPolicy {
  return { ...policy, initialDelaySeconds: 0, maxDelaySeconds: 0 };
}

/**
 * Returns the delay after attempt number `attempt` (from 1), in milliseconds.
 *
 * `fixed` is the initial delay. `exponential` has full jitter: it is uniform between 0 and the initial delay doubled with
 * each attempt, up to the maximum. Full jitter spreads simultaneous failures better than other kinds of jitter.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: () => number): number {
  const initial = policy.initialDelaySeconds * 1000;
  const max = policy.maxDelaySeconds * 1000;
  if (policy.strategy === "fixed") return Math.round(Math.min(initial, max));
  const ceiling = Math.min(max, initial * 2 ** Math.min(attempt - 1, 52));
  return Math.round(random() * ceiling);
}
