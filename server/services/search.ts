/**
 * Searches rows that have no index for a filter, newest first. Rows are read in parts of about 8 ms, between which the store
 * serves others, and one request reads a limited number of them. Indexes for each filter would cost every execution more
 * than a search costs now and then.
 */
import { setImmediate } from "node:timers/promises";

/** What one request may read. */
const maxSearched = 50_000;
const maxSearchMs = 1000;
const firstPart = 500;
const largestPart = 20_000;
const partMs = 8;

export interface Part<Row> {
  /** The matching rows. */
  rows: Row[];
  /** The key of the last row of the part; empty when the part reaches the end of the list. */
  lastKey: string;
}

export class Search<Row> {
  readonly #readPart: (before: string, limit: number, size: number) => Promise<Part<Row>>;
  readonly #endMs = performance.now() + maxSearchMs;
  #left: number;
  #size = firstPart;
  #stoppedAt = "";

  /**
   * @param readPart - returns up to `limit` matching rows among the next `size` rows after a key
   * @param limit - rows that one request may read
   */
  constructor(
    readPart: (before: string, limit: number, size: number) => Promise<Part<Row>>,
    limit: number = maxSearched,
  ) {
    this.#readPart = readPart;
    this.#left = limit;
  }

  /** The key of the last row that was read when the search ended before the list; empty otherwise. */
  get stoppedAt(): string {
    return this.#stoppedAt;
  }

  /** The first `limit` matching rows after a key; fewer at the end of the list or of the search. */
  async read(before: string, limit: number): Promise<Row[]> {
    const found: Row[] = [];
    let key = before;
    for (;;) {
      const size = Math.min(this.#size, this.#left);
      const startMs = performance.now();
      const { rows, lastKey } = await this.#readPart(key, limit - found.length, size);
      const tookMs = performance.now() - startMs;
      found.push(...rows);
      if (found.length === limit || lastKey === "") return found;
      this.#left -= size;
      key = lastKey;
      if (this.#left <= 0 || performance.now() > this.#endMs) {
        this.#stoppedAt = key;
        return found;
      }
      const fitting = Math.round((this.#size * partMs) / Math.max(tookMs, 0.1));
      this.#size = Math.max(firstPart, Math.min(fitting, 4 * this.#size, largestPart));
      // SQLite answers without leaving this turn of the event loop.
      await setImmediate();
    }
  }
}
