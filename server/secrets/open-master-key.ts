/**
 * Opens the master keys of a store. The store holds a sealed check value, so that a lost or wrong key is found at the start
 * and not when the first execution needs a secret.
 */
import { StartError } from "../errors.ts";
import type { Engine } from "../store/engine.ts";
import {
  getMasterKeyCheck,
  insertMasterKeyCheck,
  listSecretsSealedWith,
} from "../store/tables/master-key-check.ts";
import type { SecretRow } from "../store/tables/secrets.ts";
import { KeyRing, type KeySource, keyIdOf } from "./key-ring.ts";
import { loadMasterKey, type MasterKey, readMasterKey } from "./master-key.ts";
import { openSecret, sealSecret } from "./seal.ts";

/** No organization has an empty id, so that no secret of an organization can be used as a check value. */
const checkOwner = { orgId: "", name: "master-key-check" };
const checkText = "svc";

/** Secrets of a store without a check value that are tried, in case some are damaged. */
const maxTried = 100;

const advice =
  "Restore master.key from a backup of the data folder, or set SVC_MASTER_KEY to the former key. If the key is lost, run `svc admin secrets reset` and set all secrets again.";

/**
 * Creates `master.key` only for a store that has neither a check value nor secrets. Adds the check value to a store of an
 * earlier version after it opened one of its secrets.
 *
 * @throws StartError if the key is missing or is not the one of the store; Error if the variable or the file is invalid
 */
export async function openMasterKey(engine: Engine, source: KeySource): Promise<KeyRing> {
  const { variable, dataDir } = source;
  const check = await engine.read(getMasterKeyCheck);
  const isNew = check === null && (await engine.read(() => listSecretsSealedWith("", 1))).length === 0;
  const master = isNew ? loadMasterKey(variable, dataDir) : readMasterKey(variable, dataDir);
  if (master === null) {
    throw new StartError(
      `Cannot open the secrets: the master key is missing; SVC_MASTER_KEY is not set and ${dataDir} contains no master.key.`,
      advice,
      undefined,
    );
  }
  const keys = new KeyRing(master, source);
  if (check !== null) {
    if (!opens(() => keys.open(checkOwner, check))) throw wrongKey(master, check);
    return keys;
  }
  if (!isNew) await tryStoredSecrets(engine, master);
  const stored = await engine.write(function* () {
    yield* insertMasterKeyCheck(sealCheck(master), Date.now());
    return yield* getMasterKeyCheck();
  });
  // Another server that started at the same time may have another key.
  if (stored === null || !opensCheck(master, stored)) {
    throw wrongKey(master, stored ?? "");
  }
  return keys;
}

/** The check value of a key. */
export function sealCheck(master: MasterKey): string {
  return sealSecret(master, checkOwner, checkText);
}

/** Whether a key is the one of a check value. */
export function opensCheck(master: MasterKey, check: string): boolean {
  return opens(() => openSecret(master, checkOwner, check));
}

async function tryStoredSecrets(engine: Engine, master: MasterKey): Promise<void> {
  const open = ({ org_id, name, sealed }: SecretRow): boolean =>
    opens(() => openSecret(master, { orgId: org_id, name }, sealed));
  const candidates = await engine.read(() => listSecretsSealedWith(`v1.${master.id}.`, maxTried));
  if (candidates.some(open)) return;
  const [other] = await engine.read(() => listSecretsSealedWith("", 1));
  throw wrongKey(master, other?.sealed ?? "");
}

function opens(open: () => string): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}

export function wrongKey(master: MasterKey, sealed: string): StartError {
  return new StartError(
    `Cannot open the secrets: this server has the master key ${master.id}, and the store was written with ${keyIdOf(sealed) || "unknown"}.`,
    advice,
    undefined,
  );
}
