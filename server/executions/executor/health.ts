/** Whether the executor works: its last error, until some work succeeds again. */
import { log, reasonOf } from "../../telemetry/log/index.ts";

export class Health {
  readonly #closing: AbortSignal;
  #lastError: string | null = null;

  /** @param closing - afterwards, errors are expected */
  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** An error of the store must not end the process. The leases expire, and the executions run again. Never rejects. */
  async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.succeeded();
    } catch (error) {
      this.failed("The executor failed", error);
    }
  }

  succeeded(): void {
    this.#lastError = null;
  }

  failed(message: string, error: unknown, executionId?: string): void {
    if (this.#closing.aborted) return;
    this.#lastError = reasonOf(error);
    log.error(message, { reason: this.#lastError, execution_id: executionId });
  }
}
