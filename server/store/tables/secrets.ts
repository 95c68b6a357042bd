/**
 * Sealed secrets. The values of the organization and those of single environments are in two tables: servers of a version
 * without the second one continue to work with the first. This file never handles a value.
 */
import { all, first, notify, type Program } from "../engine.ts";

export interface SecretRow {
  org_id: string;
  /** Empty for a value of the organization. */
  environment: string;
  name: string;
  sealed: string;
  created_at: number;
  updated_at: number;
}

const COLUMNS = "org_id, '' AS environment, name, sealed, created_at, updated_at";
const UPSERT = `INSERT INTO secrets (org_id, name, sealed, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (org_id, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at
RETURNING ${COLUMNS}`;
const UPSERT_OWN = `INSERT INTO environment_secrets (org_id, name, sealed, created_at, updated_at, environment)
VALUES (?1, ?2, ?3, ?4, ?4, ?5)
ON CONFLICT (org_id, environment, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at
RETURNING *`;
const SELECT_ALL = `SELECT ${COLUMNS} FROM secrets WHERE org_id = ?1
UNION ALL SELECT org_id, environment, name, sealed, created_at, updated_at FROM environment_secrets WHERE org_id = ?1
ORDER BY name, environment`;
const DELETE = `DELETE FROM secrets WHERE org_id = ?1 AND name = ?2 RETURNING ${COLUMNS}`;
const DELETE_OWN =
  "DELETE FROM environment_secrets WHERE org_id = ?1 AND name = ?2 AND environment = ?3 RETURNING *";

/** @param environment - empty for a value of the organization */
export function* putSecret(
  orgId: string,
  name: string,
  sealed: string,
  nowMs: number,
  environment = "",
): Program<SecretRow> {
  const row =
    environment === ""
      ? yield* first<SecretRow>(UPSERT, orgId, name, sealed, nowMs)
      : yield* first<SecretRow>(UPSERT_OWN, orgId, name, sealed, nowMs, environment);
  if (row === undefined) throw new Error("The upsert returned no row.");
  yield* notify("secrets", orgId);
  return row;
}

/** All values, sorted by name and environment. */
export function* listSecrets(orgId: string): Program<SecretRow[]> {
  return yield* all<SecretRow>(SELECT_ALL, orgId);
}

/** @param environment - empty for a value of the organization */
export function* deleteSecret(orgId: string, name: string, environment = ""): Program<SecretRow | undefined> {
  yield* notify("secrets", orgId);
  return environment === ""
    ? yield* first<SecretRow>(DELETE, orgId, name)
    : yield* first<SecretRow>(DELETE_OWN, orgId, name, environment);
}

/** The values that an environment uses, each name once: its own ones and otherwise those of the organization. */
export function secretsIn(environment: string, rows: readonly SecretRow[]): SecretRow[] {
  const used = new Map<string, SecretRow>();
  for (const row of rows) {
    const isOwn = row.environment !== "" && row.environment === environment;
    if (isOwn || (row.environment === "" && !used.has(row.name))) used.set(row.name, row);
  }
  return [...used.values()];
}
