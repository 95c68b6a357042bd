/** An attempt that was assigned to a runner. */
import { maxPendingChildExecutions } from "../runner/protocol.ts";
import { maxSpans } from "../runner/tracing/limits.ts";
import type { Attempt, Outcome } from "./contract.ts";
import { timedOut } from "./outcomes.ts";
import { ProtocolError } from "./parse-value.ts";

/** The maximum delay of a timer. A longer delay would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

export type AbortReason = "timeout" | "cancel";

/**
 * States: *running*; *aborted* by timeout or cancellation, which determines the outcome whatever the code does then;
 * *settled*.
 */
export class RunningAttempt {
  readonly attempt: Attempt;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #pendingChildren = new Set<number>();
  #timer: ReturnType<typeof setTimeout>;
  /** Created with the first call of `ctx.run`, because most attempts make none. */
  #childAbort: AbortController | undefined;
  #aborted: AbortReason | null = null;
  #childCount = 0;
  #responded = false;
  #logLines = 0;
  #spans = 0;

  constructor(attempt: Attempt, resolve: (outcome: Outcome) => void, onTimeout: () => void) {
    this.attempt = attempt;
    this.#resolve = resolve;
    this.#timer = setTimeout(onTimeout, Math.min(attempt.timeoutMs, maxTimerMs));
  }

  get aborted(): boolean {
    return this.#aborted !== null;
  }

  /** Whether it waits for a child execution, and therefore holds no slot. */
  get waiting(): boolean {
    return this.#pendingChildren.size > 0;
  }

  abort(reason: AbortReason, message: string, graceMs: number, onGraceOver: () => void): void {
    this.#aborted = reason;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(onGraceOver, graceMs);
    this.#childAbort?.abort(new Error(message));
  }

  /**
   * Records a call of `ctx.run`.
   *
   * @returns a signal that is aborted when the attempt no longer waits for the child execution
   * @throws ProtocolError when the calls are out of order, or more are pending than the protocol allows
   */
  startChild(index: number): AbortSignal {
    if (index !== this.#childCount) throw new ProtocolError("it called ctx.run out of order");
    this.#childCount += 1;
    this.#pendingChildren.add(index);
    if (this.#pendingChildren.size > maxPendingChildExecutions)
      throw new ProtocolError("it made too many calls of ctx.run at once");
    this.#childAbort ??= new AbortController();
    if (this.#aborted !== null) this.#childAbort.abort();
    return this.#childAbort.signal;
  }

  endChild(index: number): void {
    this.#pendingChildren.delete(index);
  }

  /** @throws ProtocolError for a second response */
  countResponse(): void {
    if (this.#responded) throw new ProtocolError("it sent two responses of an execution");
    this.#responded = true;
  }

  /** @throws ProtocolError for more lines than a runner passes on, which is the limit and one note that it was reached */
  countLogLine(limit: number): void {
    if (++this.#logLines > limit + 1)
      throw new ProtocolError("it sent more log lines than an execution may write");
  }

  /** @throws ProtocolError for more spans than a runner passes on */
  countSpan(): void {
    if (++this.#spans > maxSpans) throw new ProtocolError("it sent more spans than an execution may make");
  }

  settle(outcome: Outcome): void {
    clearTimeout(this.#timer);
    this.#pendingChildren.clear();
    this.#childAbort?.abort(new Error("The parent execution has ended"));
    this.#resolve(this.#abortOutcome ?? outcome);
  }

  get #abortOutcome(): Outcome | null {
    if (this.#aborted === null) return null;
    return this.#aborted === "cancel" ? { type: "cancelled" } : timedOut(this.attempt);
  }
}
