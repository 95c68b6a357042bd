/** The secrets of organizations, opened when they are first needed and forgotten when one changes. */
import type { Engine } from "../store/engine.ts";
import { deleteSecret, listSecrets, putSecret, type SecretRow } from "../store/secrets.ts";
import type { MasterKey } from "./master-key.ts";
import { openSecret, sealSecret } from "./seal.ts";

/** Organizations whose secrets are held open; the longest held go first. */
const maxOrganizations = 1_000;

export class Vault {
  readonly #engine: Engine;
  readonly #master: MasterKey;
  readonly #open = new Map<string, Record<string, string>>();
  #version: number;

  constructor(engine: Engine, master: MasterKey) {
    this.#engine = engine;
    this.#master = master;
    this.#version = engine.version();
  }

  /** @throws Error that names the secret when one was sealed under another key. */
  async values(orgId: string): Promise<Readonly<Record<string, string>>> {
    const version = this.#engine.version();
    if (version !== this.#version) {
      this.#version = version;
      this.#open.clear();
    }
    const held = this.#open.get(orgId);
    if (held !== undefined) return held;
    const rows = await this.#engine.read(() => listSecrets(orgId));
    const values: Record<string, string> = Object.fromEntries(
      rows.map(({ name, sealed }) => [name, openSecret(this.#master, { orgId, name }, sealed)]),
    );
    this.#open.set(orgId, values);
    if (this.#open.size > maxOrganizations) {
      for (const oldest of this.#open.keys()) {
        this.#open.delete(oldest);
        break;
      }
    }
    return values;
  }

  async set(orgId: string, name: string, value: string): Promise<SecretRow> {
    const sealed = sealSecret(this.#master, { orgId, name }, value);
    const row = await this.#engine.write(() => putSecret(orgId, name, sealed, Date.now()));
    this.#open.delete(orgId);
    return row;
  }

  /** False when there was no such secret. */
  async remove(orgId: string, name: string): Promise<boolean> {
    const row = await this.#engine.write(() => deleteSecret(orgId, name));
    this.#open.delete(orgId);
    return row !== undefined;
  }
}
