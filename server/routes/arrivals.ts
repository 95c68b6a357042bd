/** Bodies that are arriving. One timer checks their pace: a timer for each took 3 % of the time of a call. */

export interface Pace {
  /** In each window at least this rate must be reached, on average. */
  minBytesPerSecond: number;
  windowMs: number;
  /** The whole body must arrive within this time; infinite for bodies whose size decides. */
  totalMs: number;
}

const checkMs = 500;

export class Arrival {
  /** Received so far. */
  bytes = 0;
  readonly #pace: Pace;
  readonly #onSlow: () => void;
  readonly #startMs = performance.now();
  #windowMs = this.#startMs;
  #windowBytes = 0;

  /** @param onSlow - called while the body is slower than the pace, until `end` */
  constructor(pace: Pace, onSlow: () => void) {
    this.#pace = pace;
    this.#onSlow = onSlow;
    arriving.add(this);
    timer ??= setInterval(checkAll, checkMs);
  }

  get isOpen(): boolean {
    return arriving.has(this);
  }

  end(): void {
    arriving.delete(this);
  }

  check(nowMs: number): void {
    const { minBytesPerSecond, windowMs, totalMs } = this.#pace;
    const isWindowOver = nowMs - this.#windowMs >= windowMs;
    const windowBytes = this.bytes - this.#windowBytes;
    const isSlow = isWindowOver && windowBytes * 1000 < minBytesPerSecond * windowMs;
    if (isSlow || nowMs - this.#startMs >= totalMs) this.#onSlow();
    else if (isWindowOver) {
      this.#windowMs = nowMs;
      this.#windowBytes = this.bytes;
    }
  }
}

const arriving = new Set<Arrival>();
let timer: NodeJS.Timeout | null = null;

function checkAll(): void {
  const nowMs = performance.now();
  for (const arrival of arriving) arrival.check(nowMs);
  if (arriving.size > 0 || timer === null) return;
  clearInterval(timer);
  timer = null;
}
