/** The delay before a retry. */
import type { RetryPolicy } from "../../project/definition.ts";

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
