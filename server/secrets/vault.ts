/** Seals secrets, and opens them for runners and webhook signatures with a cache. */
import { LruCache } from "../lru.ts";
import type { Engine, Program } from "../store/engine.ts";
import { lockMasterKeyCheck } from "../store/tables/master-key-check.ts";
import { listSecrets, type SecretRow, secretsIn } from "../store/tables/secrets.ts";
import { log } from "../telemetry/log/index.ts";
import { type KeyRing, keyIdOf } from "./key-ring.ts";
import { sealSecret } from "./seal.ts";

/** Organizations in the cache of opened secrets. */
const maxOrganizations = 1_000;
/** Distinct warnings of one server. */
const maxWarnings = 1_000;

/** The secrets of one environment. */
export interface OpenedSecrets {
  /** By name. Names have no leading underscore, so that `__proto__` cannot occur. */
  values: Readonly<Record<string, string>>;
  /** Names of secrets that are stored and cannot be opened. */
  unreadable: readonly string[];
  /** The values of all environments, to redact them. The same object until a secret changes. */
  all: Readonly<Record<string, string>>;
}

/** What the environments of an organization use. */
interface Opened {
  all: Record<string, string>;
  /** By environment; the empty one is for environments without values of their own. */
  environments: Map<string, OpenedSecrets>;
}

export class Vault {
  readonly #engine: Engine;
  readonly #keys: KeyRing;
  readonly #secrets = new LruCache<string, Opened>(maxOrganizations);
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

  /**
   * The secrets of an environment: its own values, and those of the organization for other names. One that cannot be opened
   * does not affect the rest; its reason is logged once.
   */
  async open(orgId: string, environment: string): Promise<OpenedSecrets> {
    const { environments, all } = this.#secrets.get(orgId) ?? (await this.#openAll(orgId));
    return environments.get(environment) ?? environments.get("") ?? { values: {}, unreadable: [], all };
  }

  /** The secrets of an environment that can be opened, by name. */
  async values(orgId: string, environment = ""): Promise<Readonly<Record<string, string>>> {
    return (await this.open(orgId, environment)).values;
  }

  /**
   * Part of the transaction that stores the secret: a rotation of the master key comes before or after it.
   * @returns the text to store
   */
  *seal(orgId: string, name: string, value: string, environment = ""): Program<string> {
    const check = yield* lockMasterKeyCheck();
    const id = check === null ? this.#keys.main.id : keyIdOf(check);
    const key = this.#keys.find(id);
    if (key === undefined) {
      throw new Error(`Cannot seal the secret '${name}': this server does not have the master key ${id}.`);
    }
    return sealSecret(key, { orgId, environment, name }, value);
  }

  async #openAll(orgId: string): Promise<Opened> {
    const generation = this.#generation;
    const rows = await this.#engine.read(() => listSecrets(orgId));
    const all: Record<string, string> = {};
    const keyOf = ({ environment, name }: SecretRow) => `${environment}/${name}`;
    for (const row of rows) {
      const { environment, name, sealed } = row;
      try {
        all[keyOf(row)] = this.#keys.open({ orgId, environment, name }, sealed);
      } catch (error) {
        this.#warn(error);
      }
    }
    const names = new Set(["", ...rows.map(({ environment }) => environment)]);
    const environments = new Map<string, OpenedSecrets>();
    for (const environment of names) {
      const values: Record<string, string> = {};
      const unreadable: string[] = [];
      for (const row of secretsIn(environment, rows)) {
        const value = all[keyOf(row)];
        if (value === undefined) unreadable.push(row.name);
        else values[row.name] = value;
      }
      environments.set(environment, { values, unreadable, all });
    }
    const opened = { all, environments };
    if (generation === this.#generation) this.#secrets.set(orgId, opened);
    return opened;
  }

  /** Logs each message once: the cache is emptied often. */
  #warn(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#warned.has(message) || this.#warned.size >= maxWarnings) return;
    this.#warned.add(message);
    log.error(message);
  }
}
