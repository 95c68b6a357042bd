/**
 * Streams that follow the log or an execution take turns. The pause after a turn grows with the load of the event loop by
 * other work, up to a twentieth of the time for all streams: without a limit, a hundred streams stopped the acceptance of
 * webhooks. A stream that falls behind loses no entry, because it continues at its position.
 */
import { performance } from "node:perf_hooks";

/** The longest pause after a turn, as a multiple of its time. */
const maxPause = 19;
/** Time of turns that need not wait for its pause, after a pause: an iteration of a busy event loop takes longer than a turn. */
const burstMs = 4;
/** Turns in one iteration of the event loop. */
const maxTurns = 32;
/** The pause is the longest from this share of other work in the time of the event loop, which is measured in intervals. */
const busyShare = 0.5;
const intervalMs = 100;

export class FollowPace {
  readonly #waiting: (() => void)[] = [];
  readonly #closing: AbortSignal;
  #isScheduled = false;
  /** The number of the turn that runs; null between turns. */
  #turn: number | null = null;
  #turns = 0;
  #startedMs = 0;
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #utilization = performance.eventLoopUtilization();
  #measuredAtMs = 0;
  /** The time of turns in this interval. */
  #turnsMs = 0;
  /** The pause after a turn, as a multiple of its time. */
  #pause = 0;

  /** @param closing - ends all pauses, so that the streams can end */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
    closing.addEventListener("abort", () => {
      if (this.#timer === null) return;
      clearTimeout(this.#timer);
      this.#run();
    });
  }

  /**
   * Runs a read of a stream when it is its turn. The turn includes the work of the stream with the result, until the stream
   * waits for an event: the next read, or a client that must catch up.
   */
  async read<Result>(read: () => Promise<Result>): Promise<Result> {
    const turn = await this.#next();
    const result = await read();
    // An engine behind a network answers after the turn.
    if (this.#turn !== turn) await this.#next();
    return result;
  }

  #next(): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.#turn = this.#turns++;
        resolve(this.#turn);
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    const pauseMs = this.#closing.aborted ? 0 : this.#freeAtMs - performance.now();
    if (pauseMs > 0) this.#timer = setTimeout(() => this.#run(), pauseMs);
    else this.#run();
  }

  /** A turn ends after all its promises, and before other work of the event loop. */
  #run(): void {
    this.#timer = null;
    for (let turn = 0; turn < Math.min(maxTurns, this.#waiting.length); turn++) {
      setImmediate(() => this.#start());
      setImmediate(() => this.#end());
    }
    setImmediate(() => {
      this.#isScheduled = false;
      this.#schedule();
    });
  }

  #start(): void {
    this.#startedMs = performance.now();
    if (this.#closing.aborted || this.#startedMs >= this.#freeAtMs) this.#waiting.shift()?.();
  }

  #end(): void {
    if (this.#turn === null) return;
    this.#turn = null;
    const nowMs = performance.now();
    const turnMs = nowMs - this.#startedMs;
    this.#turnsMs += turnMs;
    this.#measure(nowMs);
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs - burstMs * this.#pause) + turnMs * this.#pause;
  }

  #measure(nowMs: number): void {
    if (nowMs - this.#measuredAtMs < intervalMs) return;
    const current = performance.eventLoopUtilization();
    const { active, idle } = performance.eventLoopUtilization(current, this.#utilization);
    const others = Math.max(0, active - this.#turnsMs) / (active + idle);
    // A runtime that does not measure it reports 0.
    const load = active === 0 ? 1 : Math.min(1, others / busyShare);
    // The square leaves the time of an idle server to the streams, whose own work is in part outside of their turns.
    this.#pause = maxPause * load ** 2;
    this.#utilization = current;
    this.#measuredAtMs = nowMs;
    this.#turnsMs = 0;
  }
}
