/** Watches a runner from outside: its memory, and whether its event loop goes round. */
import { residentBytes } from "./memory.ts";
import { processorMs } from "./priority.ts";

export interface MonitorEvents {
  ping(n: number): void;
  /** It takes more memory than it may. */
  onMemory(): void;
  /** Its event loop has stood still for too long. Called again while it does. */
  onBlocked(): void;
  /** It has used so much processor time without answering that it harms others. Called again while it does. */
  onHog(usedMs: number): void;
}

/** How often a runner with attempts is looked at. It may overshoot its memory limit by what it can take in this time. */
const busyEveryMs = 100;
/** Where it takes a process of `ps` to look. */
const busyEveryWithoutProcfsMs = 1000;
const idleEveryMs = 1000;

/** So many looks at an idle runner come as often as at a busy one: attempts may come and go faster than looks. */
const looksAfterAttempts = 10;

/** What a runtime takes beside the heap of users' code while it works. */
const runtimeSlackBytes = 64 * 2 ** 20;

/** Over this share of its memory, a runner is replaced when the chance comes. */
const replaceShare = 0.75;

/** Looks are apart, and what was seen is thought over: this begins early enough to end in time. */
const judgedShare = 0.95;

/** A runner that has not answered for so long gets no further attempts until it does. */
const sluggishMs = 100;

/** Processor time, not time: a runner that waits for a processor is no hog. */
const hogMs = 80;

/**
 * States: *idle* and *busy*, which is looked at more often, as is one that was busy a moment ago; each with a ping *open*
 * or not.
 */
export class RunnerMonitor {
  readonly #pid: number;
  readonly #memoryBytes: number;
  readonly #blockedMs: number;
  readonly #events: MonitorEvents;
  #timer: ReturnType<typeof setInterval> | undefined;
  #busy = false;
  #everyMs = 0;
  #idleLooks = 0;
  #pings = 0;
  /** The ping that went ahead of the first of the present attempts. */
  #busyPing = 0;
  #answered = 0;
  #pingedAtMs: number | null = null;
  /** Processor time at the first look since the open ping. */
  #usedMsOnFirstLook: number | null = null;
  #baselineBytes: number | null = null;
  #stopped = false;
  #needsReplacement = false;

  constructor(pid: number, memoryBytes: number, blockedMs: number, events: MonitorEvents) {
    this.#pid = pid;
    this.#memoryBytes = memoryBytes;
    this.#blockedMs = blockedMs;
    this.#events = events;
    void this.#lookAtMemory();
    this.#lookEvery(idleEveryMs);
  }

  /** It takes so much memory that it should be replaced. */
  get needsReplacement(): boolean {
    return this.#needsReplacement;
  }

  get sluggish(): boolean {
    return this.#pingedAtMs !== null && performance.now() - this.#pingedAtMs > sluggishMs;
  }

  /** RunningAttempts come, or the last one has gone. */
  set busy(busy: boolean) {
    if (busy === this.#busy) return;
    this.#busy = busy;
    if (!busy) return;
    this.#lookEvery(process.platform === "linux" ? busyEveryMs : busyEveryWithoutProcfsMs);
    // Ahead of the first attempt, so that an answer tells that the loop still went round when it came.
    this.#ping();
    this.#busyPing = this.#pings;
  }

  /** Whether it has answered since attempts came. If not, what blocks it was there before them. */
  get answeredSinceBusy(): boolean {
    return this.#answered >= this.#busyPing;
  }

  /** It has answered a ping. */
  answered(n: number): void {
    this.#answered = Math.max(this.#answered, n);
  }

  /** It has sent something. Returns whether it had been sluggish. */
  heard(): boolean {
    const { sluggish } = this;
    this.#pingedAtMs = null;
    this.#usedMsOnFirstLook = null;
    return sluggish;
  }

  /** For good: the runner's last attempts are settled after it. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  #lookEvery(everyMs: number): void {
    this.#idleLooks = 0;
    if (everyMs === this.#everyMs || this.#stopped) return;
    this.#everyMs = everyMs;
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#look(), Math.min(everyMs, this.#blockedMs / 2));
  }

  #look(): void {
    void this.#lookAtMemory();
    if (!this.#busy && ++this.#idleLooks === looksAfterAttempts) this.#lookEvery(idleEveryMs);
    if (this.#pingedAtMs === null) this.#ping();
    else this.#judge(this.#pingedAtMs);
  }

  #judge(pingedAtMs: number): void {
    const usedMs = processorMs(this.#pid);
    this.#usedMsOnFirstLook ??= usedMs;
    const sinceMs = (usedMs ?? 0) - (this.#usedMsOnFirstLook ?? 0);
    if (sinceMs >= hogMs) this.#events.onHog(sinceMs);
    if (performance.now() - pingedAtMs > this.#blockedMs * judgedShare) {
      // This process may have stood still itself: what the runner has answered meanwhile is read first.
      setImmediate(() =>
        setImmediate(() => {
          if (this.#pingedAtMs !== null) this.#events.onBlocked();
        }),
      );
    }
  }

  #ping(): void {
    this.#pingedAtMs ??= performance.now();
    this.#pings += 1;
    this.#events.ping(this.#pings);
  }

  async #lookAtMemory(): Promise<void> {
    const bytes = await residentBytes(this.#pid);
    if (bytes === null) return;
    // The first look comes before users' code is loaded.
    this.#baselineBytes ??= bytes;
    const used = bytes - this.#baselineBytes;
    this.#needsReplacement = used > this.#memoryBytes * replaceShare;
    if (used > this.#memoryBytes + runtimeSlackBytes) this.#events.onMemory();
  }
}
