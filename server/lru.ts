/** A cache that holds at most `maxEntries` and evicts the least recently used entry. */
export class LruCache<Key, Value> {
  readonly #maxEntries: number;
  /** A `Map` iterates in insertion order: the first entry is the least recently used. */
  readonly #entries = new Map<Key, Value>();

  /** @param maxEntries - at least 1 */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as a use. A stored `undefined` is not told apart from a missing entry. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
