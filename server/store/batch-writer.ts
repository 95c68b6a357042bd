/** Writes rows in batches: while one batch is written, the next one collects. Batches are written in order. */

import { log, reasonOf } from "../telemetry/log/index.ts";
import type { Engine, Program } from "./engine.ts";

export interface BatchOptions<Row> {
  engine: Engine;
  /** Names the rows in the message of a failed write, for example `log lines`. */
  noun: string;
  insert(rows: readonly Row[]): Program<void>;
}

interface Waiting<Row> {
  rows: Row[];
  settled: PromiseWithResolvers<void>;
}

export class BatchWriter<Row> {
  readonly #options: BatchOptions<Row>;
  #waiting: Waiting<Row> | null = null;
  /** Resolves when the batch that is being written has settled. */
  #writing: Promise<void> | null = null;

  constructor(options: BatchOptions<Row>) {
    this.#options = options;
  }

  /** Rows that wait for the next batch. */
  get waiting(): number {
    return this.#waiting?.rows.length ?? 0;
  }

  add(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    this.#waiting ??= { rows: [], settled: Promise.withResolvers() };
    for (const row of rows) this.#waiting.rows.push(row);
    if (this.#writing === null) this.#start(this.#waiting);
  }

  /** Resolves when everything added before the call is on disk, or its write has failed. */
  async flush(): Promise<void> {
    await (this.#waiting?.settled.promise ?? this.#writing);
  }

  #start(batch: Waiting<Row>): void {
    this.#writing = batch.settled.promise;
    void this.#write(batch).then(() => {
      this.#writing = null;
      batch.settled.resolve();
      if (this.#waiting !== null) this.#start(this.#waiting);
    });
  }

  async #write(batch: Waiting<Row>): Promise<void> {
    const { engine, noun, insert } = this.#options;
    try {
      await engine.write(() => {
        // Rows that were added until the engine starts the program are part of the batch.
        if (this.#waiting === batch) this.#waiting = null;
        return insert(batch.rows);
      });
    } catch (error) {
      if (this.#waiting === batch) this.#waiting = null;
      log.error(`Cannot write ${batch.rows.length} ${noun}`, { reason: reasonOf(error) });
    }
  }
}
