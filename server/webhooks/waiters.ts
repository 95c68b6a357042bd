/** Callers that wait for the end of an execution, bounded so that slow agents cannot use up the server's connections. */
import { executionTopic, type Notifier, watch } from "../executions/notifier.ts";
import { isEnd } from "../executions/states.ts";
import type { Engine } from "../store/engine.ts";
import { type ExecutionRow, getExecution } from "../store/executions.ts";

/** Of one process; beyond it a preference to wait is not applied. */
export const maxWaiters = 200;

const fallbackMs = 1_000;

export class Waiters {
  readonly #engine: Engine;
  readonly #notifier: Notifier;
  readonly #closing: AbortSignal;
  #count = 0;

  constructor(engine: Engine, notifier: Notifier, closing: AbortSignal) {
    this.#engine = engine;
    this.#notifier = notifier;
    this.#closing = closing;
  }

  /** Takes a place; false when all are taken. */
  enter(): boolean {
    if (this.#count >= maxWaiters) return false;
    this.#count++;
    return true;
  }

  leave(): void {
    this.#count--;
  }

  /** The execution when it has ended, or as it is after `timeoutMs`. */
  async wait(orgId: string, executionId: string, timeoutMs: number): Promise<ExecutionRow | undefined> {
    const watcher = watch(this.#notifier, [executionTopic(executionId)], fallbackMs);
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing]);
    try {
      for (;;) {
        const row = await this.#engine.read(() => getExecution(orgId, executionId));
        if (row === undefined || isEnd(row.status) || signal.aborted) return row;
        await watcher.next(signal);
      }
    } finally {
      watcher.stop();
    }
  }
}
