/** Sealed secrets. This file never handles a value. */
import { all, first, notify, type Program } from "../engine.ts";

export interface SecretRow {
  org_id: string;
  name: string;
  sealed: string;
  created_at: number;
  updated_at: number;
}

const UPSERT = `INSERT INTO secrets (org_id, name, sealed, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (org_id, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at RETURNING *`;
const SELECT_ALL = "SELECT * FROM secrets WHERE org_id = ?1 ORDER BY name";
const DELETE = "DELETE FROM secrets WHERE org_id = ?1 AND name = ?2 RETURNING *";

export function* putSecret(orgId: string, name: string, sealed: string, nowMs: number): Program<SecretRow> {
  const row = yield* first<SecretRow>(UPSERT, orgId, name, sealed, nowMs);
  if (row === undefined) throw new Error("The upsert returned no row.");
  yield* notify("secrets", orgId);
  return row;
}

export function* listSecrets(orgId: string): Program<SecretRow[]> {
  return yield* all<SecretRow>(SELECT_ALL, orgId);
}

export function* deleteSecret(orgId: string, name: string): Program<SecretRow | undefined> {
  yield* notify("secrets", orgId);
  return yield* first<SecretRow>(DELETE, orgId, name);
}
