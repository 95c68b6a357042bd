/**
 * The master keys of a process. One seals: the key of the store's check value. During a rotation, secrets of the former and
 * of the next key exist at the same time, so that keys are found by their id: in `SVC_MASTER_KEY` and
 * `SVC_MASTER_KEY_PREVIOUS`, or in `master.key` and `master.key.<id>` of the data folder. The files are read again for an
 * unknown id, because `svc admin rotate-master-key` adds them while the server runs.
 */
import { type MasterKey, parseMasterKey, readKeyFile, readMasterKey } from "./master-key.ts";
import { openSecret, type SecretOwner } from "./seal.ts";

export interface KeySource {
  /** `SVC_MASTER_KEY`. Empty or undefined selects the files of the data folder. */
  variable: string | undefined;
  /** `SVC_MASTER_KEY_PREVIOUS`. Not used without `variable`. */
  previous: string | undefined;
  dataDir: string;
}

/** A file may be renamed between two reads. */
const attempts = 2;

export class KeyRing {
  /** `SVC_MASTER_KEY` or `master.key` as it was at the start. */
  readonly main: MasterKey;
  /** `SVC_MASTER_KEY_PREVIOUS`. */
  readonly previous: MasterKey | undefined;
  readonly #keys = new Map<string, MasterKey>();
  readonly #source: KeySource;

  /** @throws Error if `SVC_MASTER_KEY_PREVIOUS` is invalid */
  constructor(main: MasterKey, source: KeySource) {
    this.main = main;
    this.#source = source;
    this.#keys.set(main.id, main);
    if (!source.variable || !source.previous) return;
    this.previous = parseMasterKey(source.previous, "SVC_MASTER_KEY_PREVIOUS");
    this.#keys.set(this.previous.id, this.previous);
  }

  /** @throws Error if a file is invalid */
  find(id: string): MasterKey | undefined {
    const { variable, dataDir } = this.#source;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const known = this.#keys.get(id);
      if (known !== undefined || variable || !/^[0-9a-f]{8}$/.test(id)) return known;
      for (const key of [readKeyFile(dataDir, id), readMasterKey(undefined, dataDir)]) {
        if (key !== null) this.#keys.set(key.id, key);
      }
    }
    return this.#keys.get(id);
  }

  /** Opens a sealed secret with the key that it names. @throws Error that names the secret, never its value */
  open(owner: SecretOwner, sealed: string): string {
    return openSecret(this.find(keyIdOf(sealed)) ?? this.main, owner, sealed);
  }
}

/** The id of the key that sealed a text. */
export function keyIdOf(sealed: string): string {
  return sealed.split(".")[1] ?? "";
}
