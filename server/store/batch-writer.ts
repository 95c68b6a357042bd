/** Writes rows in batches: while one batch is written, the next one collects. */
import type { Engine, Program } from "./engine.ts";

export interface BatchOptions<Row> {
  engine: Engine;
  /** Names the rows in the message of a failed write, for example `log lines`. */
  noun: string;
  insert(rows: readonly Row[]): Program<void>;
  /** Called when a batch is on disk. */
  onWritten?(rows: readonly Row[]): void;
}

export class BatchWriter<Row> {
  readonly #options: BatchOptions<Row>;
  #waiting: Row[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: BatchOptions<Row>) {
    this.#options = options;
  }

  /** Rows that wait for the next batch. */
  get waiting(): number {
    return this.#waiting.length;
  }

  add(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    for (const row of rows) this.#waiting.push(row);
    this.#writing ??= this.#write();
  }

  /** Resolves when everything added before the call is on disk, or its write has failed. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
  }

  async #write(): Promise<void> {
    const { engine, noun, insert, onWritten } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await engine.write(() => insert(batch));
        onWritten?.(batch);
      } catch (error) {
        console.error(
          `Cannot write ${batch.length} ${noun}:`,
          error instanceof Error ? error.message : error,
        );
      }
    }
    this.#writing = null;
  }
}
