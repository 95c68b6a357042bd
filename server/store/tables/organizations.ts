/** Organizations and their API keys. */
import { all, each, first, notify, type Program, run } from "../engine.ts";

export interface OrganizationRow {
  org_id: string;
  name: string;
  created_at: number;
}

export interface KeyRow {
  key_id: string;
  org_id: string;
  name: string;
  /** SHA-256 of the secret, lower-case hex. */
  secret_hash: string;
  scope: string;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

const INSERT_ORGANIZATION = "INSERT INTO organizations (org_id, name, created_at) VALUES (?1, ?2, ?3)";
const SELECT_ORGANIZATION = "SELECT * FROM organizations WHERE org_id = ?1";
const LOCK_ORGANIZATION = "SELECT org_id FROM organizations WHERE org_id = ?1 FOR UPDATE";
const SELECT_ORGANIZATIONS = "SELECT * FROM organizations ORDER BY created_at, org_id";
const COUNT_ORGANIZATIONS = "SELECT COUNT(*) AS count FROM organizations";
const INSERT_KEY = `INSERT INTO api_keys (key_id, org_id, name, secret_hash, scope, created_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`;
const SELECT_KEY = "SELECT * FROM api_keys WHERE key_id = ?1";
const SELECT_KEYS_OF_IDS =
  "SELECT api_keys.* FROM api_keys, ROWS(key_id text) r WHERE api_keys.key_id = r.key_id";
const SELECT_KEYS = "SELECT * FROM api_keys WHERE org_id = ?1 ORDER BY created_at DESC, key_id DESC";
const SELECT_EXPIRING =
  "SELECT * FROM api_keys WHERE revoked_at IS NULL AND expires_at > ?1 AND expires_at <= ?2 ORDER BY expires_at LIMIT ?3";
const REVOKE_KEY = `UPDATE api_keys SET revoked_at = ?1 WHERE org_id = ?2 AND key_id = ?3 AND revoked_at IS NULL
RETURNING *`;
const TOUCH_KEY = "UPDATE api_keys SET last_used_at = ?1 WHERE key_id = ?2";

export function* insertOrganization(row: OrganizationRow): Program<void> {
  yield* run(INSERT_ORGANIZATION, row.org_id, row.name, row.created_at);
}

export function* getOrganization(orgId: string): Program<OrganizationRow | undefined> {
  return yield* first<OrganizationRow>(SELECT_ORGANIZATION, orgId);
}

/**
 * Locks the deployments and schedules of the organization: other processes wait until the commit before they read or
 * change them.
 */
export function* lockOrganization(orgId: string): Program<void> {
  yield* run(LOCK_ORGANIZATION, orgId);
}

export function* listOrganizations(): Program<OrganizationRow[]> {
  return yield* all<OrganizationRow>(SELECT_ORGANIZATIONS);
}

export function* countOrganizations(): Program<number> {
  return (yield* first<{ count: number }>(COUNT_ORGANIZATIONS))?.count ?? 0;
}

export function* insertKey(row: Omit<KeyRow, "last_used_at" | "revoked_at">): Program<void> {
  yield* run(
    INSERT_KEY,
    row.key_id,
    row.org_id,
    row.name,
    row.secret_hash,
    row.scope,
    row.created_at,
    row.expires_at,
  );
}

/** Keys that expire within a time. */
export function* listExpiringKeys(afterMs: number, untilMs: number, limit: number): Program<KeyRow[]> {
  return yield* all<KeyRow>(SELECT_EXPIRING, afterMs, untilMs, limit);
}

export function* getKey(keyId: string): Program<KeyRow | undefined> {
  return yield* first<KeyRow>(SELECT_KEY, keyId);
}

/** The keys of these ids that exist. */
export function* getKeys(keyIds: readonly string[]): Program<KeyRow[]> {
  return yield* each<KeyRow>(
    SELECT_KEYS_OF_IDS,
    keyIds.map((keyId) => [keyId]),
  );
}

export function* listKeys(orgId: string): Program<KeyRow[]> {
  return yield* all<KeyRow>(SELECT_KEYS, orgId);
}

export function* revokeKey(orgId: string, keyId: string, nowMs: number): Program<KeyRow | undefined> {
  yield* notify("keys", keyId);
  return yield* first<KeyRow>(REVOKE_KEY, nowMs, orgId, keyId);
}

export function* touchKey(keyId: string, nowMs: number): Program<void> {
  yield* run(TOUCH_KEY, nowMs, keyId);
}
