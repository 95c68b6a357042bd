/** The check value of the master key. This file never handles a key or a secret. */
import { all, first, type Program, run } from "../engine.ts";
import type { SecretRow } from "./secrets.ts";

const SELECT = "SELECT sealed FROM master_key_check WHERE id = 1";
// Another process may have stored one in the meantime; it stays.
const INSERT =
  "INSERT INTO master_key_check (id, sealed, created_at) VALUES (1, ?1, ?2) ON CONFLICT (id) DO NOTHING";
const DELETE = "DELETE FROM master_key_check";
const SELECT_SECRETS = "SELECT * FROM secrets WHERE sealed LIKE ?1 LIMIT ?2";
const DELETE_SECRETS = "DELETE FROM secrets RETURNING org_id, name";

/** Null in a store of version 0.1 and in a new one. */
export function* getMasterKeyCheck(): Program<string | null> {
  return (yield* first<{ sealed: string }>(SELECT))?.sealed ?? null;
}

export function* insertMasterKeyCheck(sealed: string, nowMs: number): Program<void> {
  yield* run(INSERT, sealed, nowMs);
}

/** Secrets of any organization whose sealed text begins with `prefix`, which must not contain `%` or `_`. */
export function* listSecretsSealedWith(prefix: string, limit: number): Program<SecretRow[]> {
  return yield* all<SecretRow>(SELECT_SECRETS, `${prefix}%`, limit);
}

/** Deletes the check value and the secrets of all organizations. @returns the names of the deleted secrets */
export function* deleteAllSecrets(): Program<{ org_id: string; name: string }[]> {
  yield* run(DELETE);
  return yield* all<{ org_id: string; name: string }>(DELETE_SECRETS);
}
