import { RestError, type RestErrorCode } from "./error.ts";
import type { Exchange } from "./exchange.ts";

/**
 * The time that one call has. States: `running`, until `end()` makes it `over`, or one of timeout, the caller's signal
 * and the closing of the plugin makes it `broken`; only a running one changes. When it breaks, `signal` aborts whatever
 * the call is doing, and `reason` says why.
 */
export class Deadline {
  /** Aborted with `reason` when the call is broken off. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #exchange: Exchange;
  readonly #timeoutMs: number;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #endMs: number = performance.now();
  #reason: RestError | null = null;
  #over = false;
  #forget: (() => void) | null = null;

  constructor(exchange: Exchange, timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.signal = this.#controller.signal;
    this.#exchange = exchange;
    this.#timeoutMs = timeoutMs;
    this.#endMs += timeoutMs;
    this.#timer = setTimeout(expire, timeoutMs, this);
    if (callerSignal) this.#follow(callerSignal);
  }

  /** Why the call was broken off, or null. */
  get reason(): RestError | null {
    return this.#reason;
  }

  get remainingMs(): number {
    return this.#endMs - performance.now();
  }

  expire(): void {
    this.break("timeout", `timed out after ${this.#timeoutMs / 1000} seconds`);
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
    this.#forget?.();
  }

  #follow(callerSignal: AbortSignal): void {
    const onAbort = (): void => this.break("aborted", "was aborted by its signal", callerSignal.reason);
    this.#forget = () => callerSignal.removeEventListener("abort", onAbort);
    if (callerSignal.aborted) onAbort();
    else callerSignal.addEventListener("abort", onAbort);
  }
}

/** Not a closure of each deadline: there is one for every request. */
function expire(deadline: Deadline): void {
  deadline.expire();
}
