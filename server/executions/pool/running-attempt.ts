/** A attempt that a runner was given. */
import { maxPendingChildExecutions } from "../runner/protocol.ts";
import type { Attempt, Outcome } from "./contract.ts";
import { timedOut } from "./outcomes.ts";
import { ProtocolError } from "./parse-message.ts";

/** The longest time that a timer can wait for; a longer one would end at once. */
const maxTimerMs = 2 ** 31 - 1;

export type AbortReason = "timeout" | "cancel";

/**
 * States: *going*; *aborted*, its signal was aborted by timeout or cancel, which decides its outcome whatever its code
 * still does; *settled*.
 */
export class RunningAttempt {
  readonly attempt: Attempt;
  readonly #resolve: (outcome: Outcome | Promise<Outcome>) => void;
  readonly #pendingRuns = new Set<number>();
  #timer: ReturnType<typeof setTimeout>;
  /** Made with the first call of `ctx.run`, since most attempts make none. */
  #runs: AbortController | undefined;
  #aborted: AbortReason | null = null;
  #runCount = 0;
  #logLines = 0;

  constructor(
    attempt: Attempt,
    resolve: (outcome: Outcome | Promise<Outcome>) => void,
    onTimeout: () => void,
  ) {
    this.attempt = attempt;
    this.#resolve = resolve;
    this.#timer = setTimeout(onTimeout, Math.min(attempt.timeoutMs, maxTimerMs));
  }

  get aborted(): boolean {
    return this.#aborted !== null;
  }

  /** Whether it waits for another execution and thus holds no slot. */
  get waiting(): boolean {
    return this.#pendingRuns.size > 0;
  }

  abort(reason: AbortReason, message: string, graceMs: number, onGraceOver: () => void): void {
    this.#aborted = reason;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(onGraceOver, graceMs);
    this.#runs?.abort(new Error(message));
  }

  /**
   * It calls `ctx.run`.
   *
   * @returns what tells whoever works on it that nobody waits any longer
   * @throws ProtocolError when the calls do not come in order, or are more at once than a runner lets through
   */
  startRun(index: number): AbortSignal {
    if (index !== this.#runCount) throw new ProtocolError("it called ctx.run out of order");
    this.#runCount += 1;
    this.#pendingRuns.add(index);
    if (this.#pendingRuns.size > maxPendingChildExecutions)
      throw new ProtocolError("it called ctx.run too often at once");
    this.#runs ??= new AbortController();
    if (this.#aborted !== null) this.#runs.abort();
    return this.#runs.signal;
  }

  endRun(index: number): void {
    this.#pendingRuns.delete(index);
  }

  /** @throws ProtocolError when there are more lines than a runner lets through: the limit and a note that it was reached */
  countLogLine(limit: number): void {
    if (++this.#logLines > limit + 1)
      throw new ProtocolError("it sent more log lines than an execution may write");
  }

  /** What an abort has decided; null while nothing has. */
  get decided(): Outcome | null {
    if (this.#aborted === null) return null;
    return this.#aborted === "cancel" ? { type: "cancelled" } : timedOut(this.attempt);
  }

  settle(outcome: Outcome | Promise<Outcome>): void {
    clearTimeout(this.#timer);
    this.#pendingRuns.clear();
    this.#runs?.abort(new Error("The execution that asked has ended"));
    this.#resolve(this.decided ?? outcome);
  }
}
