import { type RequestLine, RestError, type RestErrorCode } from "./error.ts";

/**
 * The time limit of one call. States: `running`, until `end()` makes it `ended`, or until the timeout, the caller's
 * signal or the plugin's `close()` makes it `aborted`. When it is aborted, `signal` aborts the current operation and
 * `reason` holds the error. An ended or aborted deadline never changes again.
 */
export class Deadline {
  readonly #controller = new AbortController();
  /** Aborted with `reason`. */
  readonly signal: AbortSignal = this.#controller.signal;
  /** The error of an aborted call, otherwise null. */
  reason: RestError | null = null;
  readonly #line: RequestLine;
  readonly #timeoutMs: number;
  readonly #startMs: number = performance.now();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #callerSignal: AbortSignal | undefined;
  #ended = false;

  constructor(line: RequestLine, timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.#line = line;
    this.#timeoutMs = timeoutMs;
    this.#callerSignal = callerSignal;
    this.#timer = setTimeout(expire, timeoutMs, this);
    if (callerSignal?.aborted) this.handleEvent();
    else callerSignal?.addEventListener("abort", this);
  }

  get remainingMs(): number {
    return this.#startMs + this.#timeoutMs - performance.now();
  }

  expire(): void {
    this.abort("timeout", `timed out after ${this.#timeoutMs / 1000} seconds`);
  }

  /** Called when the caller's signal is aborted. */
  handleEvent(): void {
    this.abort("aborted", "was aborted by its signal", this.#callerSignal?.reason);
  }

  /** Aborts the call if it is running. */
  abort(code: RestErrorCode, message: string, cause?: unknown): void {
    if (this.#ended) return;
    this.end();
    const { method, url } = this.#line;
    this.reason = new RestError(code, `${method} ${url} ${message}`, { method, url, cause });
    this.#controller.abort(this.reason);
  }

  /** Waits before a retry. Throws `reason` when the call is aborted. */
  async wait(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      this.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
    if (this.reason) throw this.reason;
  }

  /** Ends the call and releases the timer and the caller's signal. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#callerSignal?.removeEventListener("abort", this);
  }
}

/** A shared function, so that a request does not allocate a closure for its timer. */
function expire(deadline: Deadline): void {
  deadline.expire();
}
