/**
 * The stored rows of API keys that were presented in the last second. They have the hash of the secret, not the key.
 *
 * Only for a store that no other server uses: its notification removes a revoked key before the revocation is answered. A
 * notification of another server arrives after that, so that a shared store is read each time.
 */
import { LruCache } from "../lru.ts";
import type { Engine } from "../store/engine.ts";
import { getKey, type KeyRow } from "../store/tables/organizations.ts";

const maxKeys = 1_000;
/** For changes by `svc admin`, of which the notification takes up to a second too. */
const maxAgeMs = 1_000;

export interface KeyStore {
  engine: Engine;
  /** No other server uses the store. */
  exclusive: boolean;
}

export class KeyCache {
  readonly #store: KeyStore;
  readonly #rows = new LruCache<string, { row: KeyRow; readAtMs: number }>(maxKeys);
  /** Counts notifications. */
  #changes = 0;

  constructor(store: KeyStore) {
    this.#store = store;
    if (!store.exclusive) return;
    store.engine.listen("keys", (keyId) => {
      this.#changes++;
      if (keyId === null) this.#rows.clear();
      else this.#rows.delete(keyId);
    });
  }

  /** Undefined for a key that does not exist. */
  async find(keyId: string): Promise<KeyRow | undefined> {
    const { engine, exclusive } = this.#store;
    const known = this.#rows.get(keyId);
    const readAtMs = performance.now();
    if (known !== undefined && readAtMs - known.readAtMs < maxAgeMs) return known.row;
    const changes = this.#changes;
    const row = await engine.read(() => getKey(keyId));
    // A key that was revoked while it was read must not stay.
    if (row !== undefined && exclusive && changes === this.#changes) this.#rows.set(keyId, { row, readAtMs });
    return row;
  }
}
