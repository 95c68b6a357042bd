/**
 * Rotation of the master key while servers run.
 *
 * Steps, each of which may be the last one before a crash; the same command continues:
 * 1. The next key exists: as `master.key.<id>`, or as `SVC_MASTER_KEY` with the former one in `SVC_MASTER_KEY_PREVIOUS`.
 * 2. The check value of the store is sealed with the next key. From here on, servers seal with it.
 * 3. Secrets of other keys are sealed again, in batches. A secret that is set meanwhile is left as it is.
 * 4. The next key becomes `master.key`; the former one remains as `master.key.<id>`.
 */
import type { Engine } from "../store/engine.ts";
import {
  getMasterKeyCheck,
  listSecretsNotSealedWith,
  replaceMasterKeyCheck,
  resealSecrets,
} from "../store/tables/master-key-check.ts";
import { KeyRing, type KeySource, keyIdOf } from "./key-ring.ts";
import { createNextKey, installKey, type MasterKey, readMasterKey } from "./master-key.ts";
import { opensCheck, sealCheck, wrongKey } from "./open-master-key.ts";
import { sealSecret } from "./seal.ts";

export interface Rotation {
  /** Ids of the keys. */
  from: string;
  to: string;
  /** Secrets that were sealed again. */
  resealed: number;
  /** Secrets that no known key opens. They are left as they are. */
  unreadable: { org_id: string; name: string }[];
}

const batchSize = 100;

/** @throws Error if the store has no key yet, or the key is missing or wrong */
export async function rotateMasterKey(engine: Engine, source: KeySource): Promise<Rotation> {
  const check = await engine.read(getMasterKeyCheck);
  const main = readMasterKey(source.variable, source.dataDir);
  if (check === null || main === null) {
    throw new Error(
      "Cannot rotate the master key: the store has no check value or this machine has no key; start the server once, and pass its data folder or SVC_MASTER_KEY.",
    );
  }
  const keys = new KeyRing(main, source);
  const stored = keys.find(keyIdOf(check));
  if (stored === undefined || !opensCheck(stored, check)) {
    if (source.variable && keys.previous === undefined) throw previousMissing();
    throw wrongKey(main, check);
  }
  const { from, to } = source.variable ? fromVariables(keys) : fromFiles(main, stored, source);
  if (stored.id !== to.id) {
    const replaced = await engine.write(() => replaceMasterKeyCheck(check, sealCheck(to), Date.now()));
    if (!replaced) throw new Error("Cannot rotate the master key: another process rotates it.");
  }
  const result = await reseal(engine, keys, to);
  if (!source.variable) installKey(source.dataDir, to, from);
  return { from: from.id, to: to.id, ...result };
}

/** A check value of another key than `master.key` belongs to a rotation that has not ended. */
function fromFiles(
  main: MasterKey,
  stored: MasterKey,
  { dataDir }: KeySource,
): { from: MasterKey; to: MasterKey } {
  return { from: main, to: stored.id === main.id ? createNextKey(dataDir) : stored };
}

function fromVariables({ main, previous }: KeyRing): { from: MasterKey; to: MasterKey } {
  if (previous !== undefined) return { from: previous, to: main };
  throw previousMissing();
}

function previousMissing(): Error {
  return new Error(
    "Cannot rotate the master key: set SVC_MASTER_KEY to the new key and SVC_MASTER_KEY_PREVIOUS to the former one, and restart all servers with both first.",
  );
}

async function reseal(
  engine: Engine,
  keys: KeyRing,
  to: MasterKey,
): Promise<Pick<Rotation, "resealed" | "unreadable">> {
  const unreadable: Rotation["unreadable"] = [];
  let resealed = 0;
  let after = { org_id: "", name: "", environment: "" };
  for (;;) {
    const rows = await engine.read(() => listSecretsNotSealedWith(`v1.${to.id}.`, after, batchSize));
    const last = rows.at(-1);
    if (last === undefined) return { resealed, unreadable };
    const sealed = rows.flatMap((row) => {
      const owner = { orgId: row.org_id, name: row.name, environment: row.environment };
      try {
        return [{ row, sealed: sealSecret(to, owner, keys.open(owner, row.sealed)) }];
      } catch {
        unreadable.push({ org_id: row.org_id, name: row.name });
        return [];
      }
    });
    resealed += await engine.write(() => resealSecrets(sealed));
    after = { org_id: last.org_id, name: last.name, environment: last.environment };
  }
}
