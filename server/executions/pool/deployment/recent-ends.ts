/**
 * Estimates how many running attempts will end soon. Two conditions must agree: as many have ended a moment ago, because
 * long attempts may have followed short ones; and attempts are short in the mean, because long ones that started together
 * end together.
 */

const windowMs = 20;
/** The share of the newest attempt in the mean duration. */
const newestShare = 1 / 64;

export class RecentEnds {
  /** Null before the first end. */
  #meanMs: number | null = null;
  /** Of the current window. */
  #startMs = 0;
  /** Ends in the current window and in the one before. */
  #count = 0;
  #countBefore = 0;

  /** @param startMs - when the attempt was assigned, a value of `performance.now()` */
  add(nowMs: number, startMs: number): void {
    const durationMs = nowMs - startMs;
    this.#meanMs ??= durationMs;
    this.#meanMs += (durationMs - this.#meanMs) * newestShare;
    this.#roll(nowMs);
    this.#count += 1;
  }

  /** The number of `running` attempts that will probably end within a time. */
  expected(running: number, ms: number): number {
    if (this.#meanMs === null || running === 0) return 0;
    this.#roll(performance.now());
    const recent = (Math.max(this.#count, this.#countBefore) * ms) / windowMs;
    return Math.floor(Math.min(running, (running * ms) / this.#meanMs, recent));
  }

  #roll(nowMs: number): void {
    const passedMs = nowMs - this.#startMs;
    if (passedMs <= windowMs) return;
    this.#countBefore = passedMs <= 2 * windowMs ? this.#count : 0;
    this.#count = 0;
    this.#startMs = nowMs;
  }
}
