/**
 * The executions of this process.
 *
 * States of one: *running* from `add`; *settled* from `remove`, when its outcome is on disk, or can no longer be written. A
 * later attempt of an execution may be added before the earlier one is removed, and then takes its place.
 */
import type { RunningExecution } from "../../store/tables/leases.ts";

export class RunningExecutions {
  readonly #rows = new Map<string, RunningExecution>();
  /** Counts attempts: two of one execution may be here. */
  #unsettled = 0;
  readonly #whenSettled: (() => void)[] = [];

  get size(): number {
    return this.#rows.size;
  }

  add(row: RunningExecution): void {
    this.#unsettled += 1;
    this.#rows.set(row.execution_id, row);
  }

  get(executionId: string): RunningExecution | undefined {
    return this.#rows.get(executionId);
  }

  has(row: RunningExecution): boolean {
    return this.#rows.get(row.execution_id) === row;
  }

  remove(row: RunningExecution): void {
    if (this.has(row)) this.#rows.delete(row.execution_id);
    this.#unsettled -= 1;
    if (this.#unsettled === 0) for (const resolve of this.#whenSettled.splice(0)) resolve();
  }

  /** A copy. */
  list(): RunningExecution[] {
    return [...this.#rows.values()];
  }

  /** Resolves when none is unsettled. */
  async settled(): Promise<void> {
    if (this.#unsettled > 0) await new Promise<void>((resolve) => this.#whenSettled.push(resolve));
  }
}
