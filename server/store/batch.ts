/**
 * Collects rows of one operation, so that many callers share one write. The batch takes all rows that arrive until the
 * engine starts its program: one turn of the event loop with SQLite, and until a connection is free with PostgreSQL.
 */
import type { Engine, Program } from "./engine.ts";
import { StoreUnavailable } from "./unavailable.ts";

/** Rows in one batch: limits the time for which it blocks the event loop, and the rows that one failure repeats. */
const maxRows = 500;

interface Entry<Row, Result> {
  row: Row;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

export class Batch<Row, Result> {
  readonly #engine: Engine;
  readonly #program: (rows: readonly Row[]) => Program<readonly Result[]>;
  /** The batch that still takes rows. */
  #open: Entry<Row, Result>[] | null = null;

  /** @param program - returns one result for each row, in their order */
  constructor(engine: Engine, program: (rows: readonly Row[]) => Program<readonly Result[]>) {
    this.#engine = engine;
    this.#program = program;
  }

  /** Resolves when the row is on disk. A row whose write fails does not affect other rows of its batch. */
  add(row: Row): Promise<Result> {
    return new Promise((resolve, reject) => {
      const entry = { row, resolve, reject };
      if (this.#open !== null && this.#open.length < maxRows) {
        this.#open.push(entry);
        return;
      }
      const batch = [entry];
      this.#open = batch;
      void this.#write(batch);
    });
  }

  async #write(batch: readonly Entry<Row, Result>[]): Promise<void> {
    let results: readonly Result[];
    let started = false;
    try {
      results = await this.#engine.write(() => {
        started = true;
        if (this.#open === batch) this.#open = null;
        return this.#program(batch.map(({ row }) => row));
      });
    } catch (error) {
      if (this.#open === batch) this.#open = null;
      // A failure of the store is not that of a row; its outcome may be unknown.
      const repeat = started && batch.length > 1 && !(error instanceof StoreUnavailable);
      for (const entry of batch) {
        if (repeat) void this.#write([entry]);
        else entry.reject(error);
      }
      return;
    }
    let index = 0;
    for (const { resolve, reject } of batch) {
      if (index < results.length) resolve(results[index++] as Result);
      else reject(new Error("The batch returned no result for a row."));
    }
  }
}
