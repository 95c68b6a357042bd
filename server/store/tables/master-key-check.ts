/** The check value of the master key. This file never handles a key or a secret. */
import { all, first, notify, type Program, run } from "../engine.ts";
import type { SecretRow } from "./secrets.ts";

const SELECT = "SELECT sealed FROM master_key_check WHERE id = 1";
// Another process may have stored one in the meantime; it stays.
const INSERT =
  "INSERT INTO master_key_check (id, sealed, created_at) VALUES (1, ?1, ?2) ON CONFLICT (id) DO NOTHING";
const LOCK = "SELECT sealed FROM master_key_check WHERE id = 1 FOR UPDATE";
const REPLACE =
  "UPDATE master_key_check SET sealed = ?1, created_at = ?2 WHERE id = 1 AND sealed = ?3 RETURNING id";
const SELECT_OTHERS = `SELECT * FROM (
  SELECT org_id, '' AS environment, name, sealed, created_at, updated_at FROM secrets WHERE sealed NOT LIKE ?1
  UNION ALL SELECT org_id, environment, name, sealed, created_at, updated_at FROM environment_secrets
  WHERE sealed NOT LIKE ?1) AS others
WHERE org_id > ?2 OR (org_id = ?2 AND (name > ?3 OR (name = ?3 AND environment > ?4)))
ORDER BY org_id, name, environment LIMIT ?5`;
const RESEAL =
  "UPDATE secrets SET sealed = ?1 WHERE org_id = ?2 AND name = ?3 AND sealed = ?4 RETURNING name";
const RESEAL_OWN = `UPDATE environment_secrets SET sealed = ?1
WHERE org_id = ?2 AND name = ?3 AND sealed = ?4 AND environment = ?5 RETURNING name`;
const DELETE = "DELETE FROM master_key_check";
const SELECT_SECRETS = "SELECT * FROM secrets WHERE sealed LIKE ?1 LIMIT ?2";
const DELETE_SECRETS = "DELETE FROM secrets RETURNING org_id, name";
const DELETE_OWN_SECRETS = "DELETE FROM environment_secrets RETURNING org_id, name";

/** Null in a store of version 0.1 and in a new one. */
export function* getMasterKeyCheck(): Program<string | null> {
  return (yield* first<{ sealed: string }>(SELECT))?.sealed ?? null;
}

/** Like {@link getMasterKeyCheck}; the value does not change before the end of the transaction. */
export function* lockMasterKeyCheck(): Program<string | null> {
  return (yield* first<{ sealed: string }>(LOCK))?.sealed ?? null;
}

/** @returns false if the check value is no longer `former` */
export function* replaceMasterKeyCheck(former: string, sealed: string, nowMs: number): Program<boolean> {
  return (yield* first(REPLACE, sealed, nowMs, former)) !== undefined;
}

/** Secrets after a position whose sealed text does not begin with `prefix`, which must not contain `%` or `_`. */
export function* listSecretsNotSealedWith(
  prefix: string,
  after: Pick<SecretRow, "org_id" | "name" | "environment">,
  limit: number,
): Program<SecretRow[]> {
  return yield* all<SecretRow>(
    SELECT_OTHERS,
    `${prefix}%`,
    after.org_id,
    after.name,
    after.environment,
    limit,
  );
}

/** Replaces sealed texts that have not changed meanwhile. @returns the number of replaced ones */
export function* resealSecrets(rows: readonly { row: SecretRow; sealed: string }[]): Program<number> {
  let count = 0;
  for (const { row, sealed } of rows) {
    const params = [sealed, row.org_id, row.name, row.sealed] as const;
    const replaced =
      row.environment === ""
        ? yield* first(RESEAL, ...params)
        : yield* first(RESEAL_OWN, ...params, row.environment);
    if (replaced === undefined) continue;
    count++;
    yield* notify("secrets", row.org_id);
  }
  return count;
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
  const ofOrganizations = yield* all<{ org_id: string; name: string }>(DELETE_SECRETS);
  return [...ofOrganizations, ...(yield* all<{ org_id: string; name: string }>(DELETE_OWN_SECRETS))];
}
