/**
 * Runs the attempts of executions that hold a slot: *starting* until the end of the turn of the event loop, then *running*
 * in a pool, then *settling* until the outcome is on disk. The slot is free from the end of *running*: the next claim does
 * not wait for the write.
 */
import type { RetryPolicy } from "../../../project/definition.ts";
import type { RunningExecution } from "../../store/tables/leases.ts";
import type { AttemptSpan } from "../../telemetry/tracing/tracer.ts";
import { countAttempt, endSpan } from "../count.ts";
import type { Outcome, Pools } from "../pool/contract.ts";
import { type AttemptSettings, notStarted, readSettings, retryOf, runAttempt } from "../run-attempt.ts";
import type { Health } from "./health.ts";
import type { ExecutorOptions } from "./options.ts";
import type { OutcomeWriter } from "./outcome-writer.ts";
import type { RunningExecutions } from "./running.ts";

export interface AttemptParts {
  pools: Pools;
  running: RunningExecutions;
  outcomes: OutcomeWriter;
  health: Health;
  /** Called at the end of an attempt, before its outcome is written. */
  release(row: RunningExecution): void;
}

export class Attempts {
  readonly #options: ExecutorOptions;
  readonly #parts: AttemptParts;
  /** Executions that start at the end of this turn, by deployment and environment. */
  readonly #starting = new Map<string, RunningExecution[]>();
  /** The spans of running attempts; empty without tracing. */
  readonly #spans = new Map<string, AttemptSpan>();

  constructor(options: ExecutorOptions, parts: AttemptParts) {
    this.#options = options;
    this.#parts = parts;
  }

  spanOf(executionId: string): AttemptSpan | undefined {
    return this.#spans.get(executionId);
  }

  /**
   * Runs an execution together with those that start in the same turn and have the same settings. A replay on a named
   * deployment keeps its environment, so that a deployment may have executions of several.
   */
  start(row: RunningExecution): void {
    this.#parts.running.add(row);
    this.#options.onAttempt?.(row.execution_id);
    const key = `${row.deployment_id} ${row.environment}`;
    const starting = this.#starting.get(key);
    if (starting !== undefined) {
      starting.push(row);
      return;
    }
    const rows = [row];
    this.#starting.set(key, rows);
    queueMicrotask(() => {
      this.#starting.delete(key);
      void this.#runAll(rows);
    });
  }

  /** Runs executions of one deployment and environment. Never rejects. */
  async #runAll(rows: readonly RunningExecution[]): Promise<void> {
    let settings: AttemptSettings | { error: unknown };
    try {
      settings = await readSettings(this.#options, rows[0] as RunningExecution);
    } catch (error) {
      settings = { error };
    }
    for (const row of rows) void this.#run(row, settings);
  }

  /** Runs an execution until its outcome is on disk. Never rejects. */
  async #run(row: RunningExecution, settings: AttemptSettings | { error: unknown }): Promise<void> {
    const { pools, running, outcomes, health, release } = this.#parts;
    const startedMs = performance.now();
    const span = this.#options.tracer?.attempt(row) ?? null;
    if (span !== null) this.#spans.set(row.execution_id, span);
    let outcome: Outcome;
    let retry: RetryPolicy | null = null;
    try {
      if ("error" in settings) throw settings.error;
      retry = retryOf(settings, row);
      outcome = await runAttempt(this.#options, settings, row, pools, span?.context ?? null);
    } catch (error) {
      outcome = notStarted(error);
    }
    countAttempt(row, outcome, startedMs);
    if (span !== null) {
      this.#spans.delete(row.execution_id);
      endSpan(span, outcome);
    }
    release(row);
    try {
      await outcomes.write(row, retry, outcome);
      health.succeeded();
    } catch (error) {
      health.failed("The executor failed", error, row.execution_id);
    } finally {
      running.remove(row);
    }
  }
}
