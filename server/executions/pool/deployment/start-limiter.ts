/** Limits how often a deployment starts runners: code that crashes in a loop must not keep the machine busy. */

const burst = 8;
const perSecond = 1;

/** A token bucket. */
export class StartLimiter {
  #tokens: number = burst;
  #refilledAtMs: number | undefined;

  /**
   * Takes a token for one start.
   *
   * @param nowMs - of a monotonic clock
   * @returns 0, or the milliseconds until the next token when there is none
   */
  take(nowMs: number = performance.now()): number {
    this.#refilledAtMs ??= nowMs;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#refilledAtMs) / 1000) * perSecond);
    this.#refilledAtMs = nowMs;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / perSecond) * 1000);
    this.#tokens -= 1;
    return 0;
  }
}
