/**
 * Streams that follow the log or an execution share a tenth of the time of a busy event loop: without a limit, a hundred
 * streams stopped the acceptance of webhooks. A stream that falls behind loses no entry, because it continues at its
 * position.
 */
import { performance } from "node:perf_hooks";

/** The length of the pause after work of the streams, as a multiple of it. */
const pauseShare = 9;
/** Work that need not wait for its pause, after a pause. */
const burstMs = 2;
/** An estimate of the time to encode and send an entry. It is spread over many turns of the event loop. */
const sendMs = 0.1;
/** The event loop is busy at this share of its time, which is measured in intervals. */
const busyShare = 0.5;
const intervalMs = 100;

export class FollowPace {
  readonly #reads: (() => void)[] = [];
  readonly #closing: AbortSignal;
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #utilization = performance.eventLoopUtilization();
  #measuredAtMs = 0;
  #busy = false;

  /** @param closing - ends all pauses, so that the streams can end */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
    closing.addEventListener("abort", () => {
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#work();
    });
  }

  /** Runs a read of a stream when it is its turn. @param entriesOf - how many entries the stream sends after it */
  read<Result>(read: () => Promise<Result>, entriesOf: (result: Result) => number): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#reads.push(() => {
        // Of an engine behind a network, only the part in this process counts.
        const startedMs = performance.now();
        const reading = read();
        this.#spend(performance.now() - startedMs);
        reading.then((result) => {
          this.#spend(entriesOf(result) * sendMs);
          resolve(result);
        }, reject);
      });
      if (this.#timer === null) this.#work();
    });
  }

  #work(): void {
    this.#timer = null;
    while (this.#closing.aborted || performance.now() >= this.#freeAtMs) {
      const read = this.#reads.shift();
      if (read === undefined) return;
      read();
    }
    if (this.#reads.length === 0) return;
    this.#timer = setTimeout(() => this.#work(), Math.max(1, this.#freeAtMs - performance.now()));
  }

  #spend(ms: number): void {
    const nowMs = performance.now();
    this.#measure(nowMs);
    if (!this.#busy) return;
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs - burstMs * pauseShare) + ms * pauseShare;
  }

  #measure(nowMs: number): void {
    if (nowMs - this.#measuredAtMs < intervalMs) return;
    const current = performance.eventLoopUtilization();
    const { active, utilization } = performance.eventLoopUtilization(current, this.#utilization);
    // A runtime that does not measure it reports 0.
    this.#busy = active === 0 || utilization > busyShare;
    this.#utilization = current;
    this.#measuredAtMs = nowMs;
  }
}
