import { RestError, type RestErrorCode } from "./error.ts";
import type { Exchange } from "./response.ts";

/**
 * The time that one call has. States: `running`, until `end()` makes it `over`, or one of timeout, the caller's signal
 * and the closing of the plugin makes it `broken`; only a running one changes. When it breaks, `signal` aborts whatever
 * the call is doing, and `reason` says why.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #endMs: number;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #onAbort = (): void =>
    this.break("aborted", "was aborted by its signal", this.#callerSignal?.reason);
  readonly #exchange: Exchange;
  #reason: RestError | null = null;
  #over = false;

  constructor(exchange: Exchange, timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#exchange = exchange;
    this.#endMs = performance.now() + timeoutMs;
    this.#timer = setTimeout(
      () => this.break("timeout", `timed out after ${timeoutMs / 1000} seconds`),
      timeoutMs,
    );
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.#onAbort();
    else callerSignal?.addEventListener("abort", this.#onAbort);
  }

  /** Aborted with `reason` when the time is broken off. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the call was broken off, or null. */
  get reason(): RestError | null {
    return this.#reason;
  }

  get remainingMs(): number {
    return this.#endMs - performance.now();
  }

  /** Breaks the call off, unless it is over. */
  break(code: RestErrorCode, what: string, cause?: unknown): void {
    if (this.#over) return;
    this.end();
    const { method, url } = this.#exchange;
    this.#reason = new RestError(code, `${method} ${url} ${what}`, { method, url, cause });
    this.#controller.abort(this.#reason);
  }

  /** Waits, unless the call is broken off meanwhile: then it throws the reason. */
  async wait(delayMs: number): Promise<void> {
    if (this.#reason) throw this.#reason;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, delayMs);
      this.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(this.#reason);
      });
    });
  }

  /** Ends the time: nothing is broken off any more, and nothing is held. */
  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener("abort", this.#onAbort);
  }
}
