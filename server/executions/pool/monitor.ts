/** Monitors a runner from the server: its memory, and whether its event loop answers. */

export interface MonitorEvents {
  /** Bytes of memory that the runner occupies; null when they are not known. */
  usedBytes(): Promise<number | null>;
  ping(n: number): void;
  /** The runner uses more memory than its limit. */
  onMemory(): void;
  /** The event loop has not answered for `blockedMs`. Called again at each check while that is so. */
  onBlocked(): void;
}

/** The interval of checks while the runner has attempts. Memory may exceed its limit by what the code allocates in it. */
const busyIntervalMs = 100;
/** The same where reading the memory takes a process of `ps`. */
const busyIntervalWithoutProcfsMs = 1000;
const idleIntervalMs = 1000;

/** Checks at the busy interval after the last attempt has ended: attempts may come and go faster than checks. */
const checksAfterAttempts = 10;

/** Memory of the runtime itself beyond the heap of users' code. */
const runtimeSlackBytes = 64 * 2 ** 20;

/** A runner that uses more than this share of its memory is replaced at the next opportunity. */
const replaceShare = 0.75;

/** The check begins at this share of `blockedMs`, because checks are an interval apart. */
const blockedShare = 0.95;

/** A runner that has not answered for this time gets no attempts until it does. */
const unresponsiveMs = 100;

/**
 * States: *idle* or *busy*, which sets the interval of checks; in both, a ping is outstanding or not. *Stopped* is final.
 */
export class RunnerMonitor {
  readonly #memoryBytes: number;
  readonly #blockedMs: number;
  readonly #events: MonitorEvents;
  #timer: ReturnType<typeof setInterval> | undefined;
  #busy = false;
  #intervalMs = 0;
  #idleChecks = 0;
  #pings = 0;
  /** The ping sent before the first of the present attempts. */
  #busyPing = 0;
  #answered = 0;
  #pingedAtMs: number | null = null;
  #baselineBytes: number | null = null;
  #stopped = false;
  #needsReplacement = false;

  constructor(memoryBytes: number, blockedMs: number, events: MonitorEvents) {
    this.#memoryBytes = memoryBytes;
    this.#blockedMs = blockedMs;
    this.#events = events;
    void this.#checkMemory();
    this.#setInterval(idleIntervalMs);
  }

  /** Whether the runner uses so much memory that it should be replaced. */
  get needsReplacement(): boolean {
    return this.#needsReplacement;
  }

  get unresponsive(): boolean {
    return this.#pingedAtMs !== null && performance.now() - this.#pingedAtMs > unresponsiveMs;
  }

  /** Whether the runner has attempts. */
  set busy(busy: boolean) {
    if (busy === this.#busy) return;
    this.#busy = busy;
    if (!busy) return;
    this.#setInterval(process.platform === "linux" ? busyIntervalMs : busyIntervalWithoutProcfsMs);
    // Sent before the first attempt: an answer proves that the event loop was not blocked when the attempt arrived.
    this.#ping();
    this.#busyPing = this.#pings;
  }

  /** Whether it has answered since it became busy. If not, an earlier attempt may have blocked it. */
  get answeredSinceBusy(): boolean {
    return this.#answered >= this.#busyPing;
  }

  /** The runner answered a ping. */
  answered(n: number): void {
    this.#answered = Math.max(this.#answered, n);
  }

  /** The runner sent something. Returns whether it had been unresponsive. */
  received(): boolean {
    const { unresponsive } = this;
    this.#pingedAtMs = null;
    return unresponsive;
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  #setInterval(intervalMs: number): void {
    this.#idleChecks = 0;
    if (intervalMs === this.#intervalMs || this.#stopped) return;
    this.#intervalMs = intervalMs;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#check(), Math.min(intervalMs, this.#blockedMs / 2));
  }

  #check(): void {
    void this.#checkMemory();
    if (!this.#busy && ++this.#idleChecks === checksAfterAttempts) this.#setInterval(idleIntervalMs);
    if (this.#pingedAtMs === null) this.#ping();
    else this.#checkResponse(performance.now() - this.#pingedAtMs);
  }

  #checkResponse(waitedMs: number): void {
    if (waitedMs <= this.#blockedMs * blockedShare) return;
    // The server's own event loop may have been blocked: read the answers that have arrived first.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#pingedAtMs !== null) this.#events.onBlocked();
      }),
    );
  }

  #ping(): void {
    this.#pingedAtMs ??= performance.now();
    this.#pings += 1;
    this.#events.ping(this.#pings);
  }

  async #checkMemory(): Promise<void> {
    const bytes = await this.#events.usedBytes();
    if (bytes === null) return;
    // The first reading comes before users' code is loaded.
    this.#baselineBytes ??= bytes;
    const used = bytes - this.#baselineBytes;
    this.#needsReplacement = used > this.#memoryBytes * replaceShare;
    if (used > this.#memoryBytes + runtimeSlackBytes) this.#events.onMemory();
  }
}
