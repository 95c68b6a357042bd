/** A trigger's caller may wait for the end of the execution (`Prefer: wait`, RFC 7240) or for its response (`respond: output`). */
import type { Failure } from "../errors.ts";
import { executionTopic, type Notifier, watch } from "../executions/notifier.ts";
import { isEnd, type StoredError } from "../executions/states.ts";
import type { Engine } from "../store/engine.ts";
import { type ExecutionRow, type ExecutionStatus, getExecution } from "../store/tables/executions.ts";
import { parseStored } from "../store/tables/json.ts";
import { unlessUnavailable } from "../store/unavailable.ts";
import { parsePreferWait } from "./prefer.ts";

/** Waiting callers of one organization in this process; further callers do not wait. */
const maxWaiters = 200;

/** How often to read without a notification: another process may have finished the execution. */
const fallbackMs = 1_000;

export interface TriggerResult {
  /** The execution's status at the time of the response. */
  status: ExecutionStatus;
  /** Seconds of the applied preference; null when none was applied. */
  waitSeconds: number | null;
  /** JSON text; null unless the preference was applied and the execution succeeded. */
  output: string | null;
  /** Null unless the preference was applied and the execution failed or was cancelled. */
  failure: Failure | null;
}

export class Waiters {
  readonly #engine: Engine;
  readonly #notifier: Notifier;
  readonly #closing: AbortSignal;
  /** Waiting callers by organization. */
  readonly #counts = new Map<string, number>();

  constructor(engine: Engine, notifier: Notifier, closing: AbortSignal) {
    this.#engine = engine;
    this.#notifier = notifier;
    this.#closing = closing;
  }

  /**
   * Waits as the header prefers; without a preference returns immediately.
   *
   * @param gone - aborts when the sender is gone
   */
  async result(
    orgId: string,
    { executionId, replayed }: { executionId: string; replayed: boolean },
    prefer: string | string[] | null | undefined,
    gone: AbortSignal,
  ): Promise<TriggerResult> {
    const waitSeconds = parsePreferWait(prefer);
    const waiting =
      waitSeconds === null
        ? null
        : await this.#counted(orgId, () =>
            this.#wait(orgId, executionId, waitSeconds * 1000, hasEnded, gone),
          );
    if (waiting === null) {
      const row = replayed ? await this.#engine.read(() => getExecution(orgId, executionId)) : undefined;
      return { status: row?.status ?? "queued", waitSeconds: null, output: null, failure: null };
    }
    return { waitSeconds, ...outcomeOf(waiting.row) };
  }

  /**
   * Waits until the execution has a response or has ended, or the sender is gone. Returns immediately when too many callers
   * of the organization wait.
   */
  async response(
    orgId: string,
    executionId: string,
    timeoutMs: number,
    gone: AbortSignal,
  ): Promise<Omit<TriggerResult, "waitSeconds"> & { response: string | null }> {
    const hasResult = (row: ExecutionRow): boolean => row.response !== null || hasEnded(row);
    const waiting = await this.#counted(orgId, () =>
      this.#wait(orgId, executionId, timeoutMs, hasResult, gone),
    );
    return { ...outcomeOf(waiting?.row), response: waiting?.row?.response ?? null };
  }

  /** Runs a wait, unless the organization has too many: then null. */
  async #counted(
    orgId: string,
    wait: () => Promise<ExecutionRow | undefined>,
  ): Promise<{ row: ExecutionRow | undefined } | null> {
    const count = this.#counts.get(orgId) ?? 0;
    if (count >= maxWaiters) return null;
    this.#counts.set(orgId, count + 1);
    try {
      return { row: await wait() };
    } finally {
      const left = (this.#counts.get(orgId) ?? 1) - 1;
      if (left > 0) this.#counts.set(orgId, left);
      else this.#counts.delete(orgId);
    }
  }

  /** Returns the row when the wait is over, or its current state, if it is known, after `timeoutMs`. */
  async #wait(
    orgId: string,
    executionId: string,
    timeoutMs: number,
    isOver: (row: ExecutionRow) => boolean,
    gone: AbortSignal,
  ): Promise<ExecutionRow | undefined> {
    const watcher = watch(this.#notifier, [executionTopic(executionId)], fallbackMs);
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing, gone]);
    try {
      for (;;) {
        // The execution was accepted: an error would make the sender repeat its request.
        const row = await unlessUnavailable(this.#engine.read(() => getExecution(orgId, executionId)));
        if (row === undefined || (row !== null && isOver(row))) return row;
        if (signal.aborted) return row ?? undefined;
        await watcher.next(signal);
      }
    } finally {
      watcher.stop();
    }
  }
}

function hasEnded({ status }: ExecutionRow): boolean {
  return isEnd(status);
}

function outcomeOf(row: ExecutionRow | undefined): Pick<TriggerResult, "status" | "output" | "failure"> {
  const status = row?.status ?? "queued";
  if (row === undefined || !isEnd(status)) return { status, output: null, failure: null };
  if (status === "succeeded") return { status, output: row.output ?? "null", failure: null };
  const error = row.error === null ? null : parseStored<StoredError>(row.error);
  const message = error === null ? `The execution was ${status}.` : `${error.name}: ${error.message}`;
  return { status, output: null, failure: { message, violations: error?.violations ?? [] } };
}
