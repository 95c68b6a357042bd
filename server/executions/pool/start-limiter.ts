/** How often a deployment may start a runner: one whose code crashes for ever must not keep the machine busy with that. */

const burst = 8;
const perSecond = 2;

export class StartLimiter {
  #tokens: number = burst;
  #earnedAtMs: number | undefined;

  /**
   * Milliseconds until a start is allowed; 0 when it is, and then it is taken.
   *
   * @param nowMs - by a clock that never goes back
   */
  take(nowMs: number = performance.now()): number {
    this.#earnedAtMs ??= nowMs;
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#earnedAtMs) / 1000) * perSecond);
    this.#earnedAtMs = nowMs;
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / perSecond) * 1000);
    this.#tokens -= 1;
    return 0;
  }
}
