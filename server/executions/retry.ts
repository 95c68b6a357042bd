/** When a failed attempt is tried again. */
import type { RetryPolicy } from "../../project/definition.ts";

/**
 * The delay before the attempt after `attempt` (from 1), in milliseconds.
 *
 * `fixed` waits the initial delay. `exponential` has full jitter: uniform between 0 and the initial delay doubled with
 * each attempt, up to the maximum; of the jitters it spreads a crowd of failures best.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, random: () => number): number {
  const initial = policy.initialDelaySeconds * 1000;
  const max = policy.maxDelaySeconds * 1000;
  if (policy.strategy === "fixed") return Math.round(Math.min(initial, max));
  const ceiling = Math.min(max, initial * 2 ** Math.min(attempt - 1, 52));
  return Math.round(random() * ceiling);
}
