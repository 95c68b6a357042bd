/** Seals secrets, and opens them for runners and webhook signatures with a cache. */
import { LruCache } from "../lru.ts";
import type { Engine, Program } from "../store/engine.ts";
import { lockMasterKeyCheck } from "../store/tables/master-key-check.ts";
import { listSecrets } from "../store/tables/secrets.ts";
import { log } from "../telemetry/log/index.ts";
import { type KeyRing, keyIdOf } from "./key-ring.ts";
import { sealSecret } from "./seal.ts";

/** Organizations in the cache of opened secrets. */
const maxOrganizations = 1_000;
/** Distinct warnings of one server. */
const maxWarnings = 1_000;

export interface OpenedSecrets {
  /** By name. Names have no leading underscore, so that `__proto__` cannot occur. */
  values: Readonly<Record<string, string>>;
  /** Names of secrets that are stored and cannot be opened. */
  unreadable: readonly string[];
}

export class Vault {
  readonly #engine: Engine;
  readonly #keys: KeyRing;
  readonly #secrets = new LruCache<string, OpenedSecrets>(maxOrganizations);
  readonly #warned = new Set<string>();
  /** Increases with each change: rows that were read before a change must not enter the cache. */
  #generation = 0;

  constructor(engine: Engine, keys: KeyRing) {
    this.#engine = engine;
    this.#keys = keys;
    engine.listen("secrets", (orgId) => {
      this.#generation++;
      if (orgId === null) this.#secrets.clear();
      else this.#secrets.delete(orgId);
    });
  }

  /** The secrets of an organization. One that cannot be opened does not affect the rest; its reason is logged once. */
  async open(orgId: string): Promise<OpenedSecrets> {
    const cached = this.#secrets.get(orgId);
    if (cached !== undefined) return cached;
    const generation = this.#generation;
    const rows = await this.#engine.read(() => listSecrets(orgId));
    const values: Record<string, string> = {};
    const unreadable: string[] = [];
    for (const { name, sealed } of rows) {
      try {
        values[name] = this.#keys.open({ orgId, name }, sealed);
      } catch (error) {
        unreadable.push(name);
        this.#warn(error);
      }
    }
    const opened = { values, unreadable };
    if (generation === this.#generation) this.#secrets.set(orgId, opened);
    return opened;
  }

  /** The secrets of an organization that can be opened, by name. */
  async values(orgId: string): Promise<Readonly<Record<string, string>>> {
    return (await this.open(orgId)).values;
  }

  /**
   * Part of the transaction that stores the secret: a rotation of the master key comes before or after it.
   * @returns the text to store
   */
  *seal(orgId: string, name: string, value: string): Program<string> {
    const check = yield* lockMasterKeyCheck();
    const id = check === null ? this.#keys.main.id : keyIdOf(check);
    const key = this.#keys.find(id);
    if (key === undefined) {
      throw new Error(`Cannot seal the secret '${name}': this server does not have the master key ${id}.`);
    }
    return sealSecret(key, { orgId, name }, value);
  }

  /** Logs each message once: the cache is emptied often. */
  #warn(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#warned.has(message) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(message);
    log.error(message);
  }
}
