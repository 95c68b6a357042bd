/**
 * Batches of log entries that streams have read in a short time. Streams with the same filter and position share them, and
 * with them the messages and the lines that are made of them. Entries of the log do not change.
 */
import { LruCache } from "../../lru.ts";
import type { LogRow } from "../../store/tables/logs.ts";

const maxBatches = 16;

export interface LogBatch {
  rows: readonly LogRow[];
  /** The position after the batch. Entries before it that are left out do not match the filter. */
  upTo: number;
}

export class SharedBatches {
  readonly #batches = new LruCache<string, Promise<LogBatch>>(maxBatches);

  /** @param key - the log, the filter and the position */
  read(key: string, read: () => Promise<LogBatch>): Promise<LogBatch> {
    const known = this.#batches.get(key);
    if (known !== undefined) return known;
    const batch = read();
    this.#batches.set(key, batch);
    batch.catch(() => this.#batches.delete(key));
    return batch;
  }
}
