/** Seals secrets, and opens them for runners and webhook signatures with a cache. */
import { LruCache } from "../lru.ts";
import type { Engine } from "../store/engine.ts";
import { listSecrets } from "../store/secrets.ts";
import type { MasterKey } from "./master-key.ts";
import { openSecret, sealSecret } from "./seal.ts";

/** Organizations in the cache of opened secrets. */
const maxOrganizations = 1_000;

export class Vault {
  readonly #engine: Engine;
  readonly #master: MasterKey;
  readonly #values = new LruCache<string, Record<string, string>>(maxOrganizations);
  #version: number;

  constructor(engine: Engine, master: MasterKey) {
    this.#engine = engine;
    this.#master = master;
    this.#version = engine.version();
  }

  /**
   * The secrets of an organization by name.
   *
   * @throws Error that names the secret if it was sealed under another key
   */
  async values(orgId: string): Promise<Readonly<Record<string, string>>> {
    const version = this.#engine.version();
    if (version !== this.#version) {
      this.#version = version;
      this.#values.clear();
    }
    const cached = this.#values.get(orgId);
    if (cached !== undefined) return cached;
    const rows = await this.#engine.read(() => listSecrets(orgId));
    const values: Record<string, string> = Object.fromEntries(
      rows.map(({ name, sealed }) => [name, openSecret(this.#master, { orgId, name }, sealed)]),
    );
    this.#values.set(orgId, values);
    return values;
  }

  /** @returns the text to store */
  seal(orgId: string, name: string, value: string): string {
    return sealSecret(this.#master, { orgId, name }, value);
  }

  /** Call this after a change to the secrets of an organization was committed. */
  evict(orgId: string): void {
    this.#values.delete(orgId);
  }
}
