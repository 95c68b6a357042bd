/** Brings an embedded database to the newest schema. `postgres/migrate.ts` does the same for PostgreSQL. */
import type { Row, SqlValue } from "./engine.ts";
import { compatibleFrom, migrations } from "./migrations.ts";

interface MigrationTarget {
  exec(sql: string): void;
  all(sql: string, ...params: SqlValue[]): Row[];
}

/**
 * Brings a database to the newest schema; each step is one transaction. An up-to-date database is only read, so that
 * `svc admin` opens the store of a busy server without waiting for its write lock.
 */
export function migrate(db: MigrationTarget): void {
  db.exec("CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)");
  const version = versionOf(db);
  if (version > migrations.length) checkVersion(version, db.all(SELECT_COMPATIBLE)[0]?.compatible_from);
  for (const [index, step] of migrations.entries()) {
    if (index < version) continue;
    db.exec("BEGIN IMMEDIATE");
    try {
      // Another process may have applied the step meanwhile.
      if (versionOf(db) <= index) {
        db.exec(step);
        db.all("INSERT INTO migrations (version, applied_at) VALUES (?, ?)", index + 1, Date.now());
        if (index + 1 === migrations.length) db.all(SET_COMPATIBLE, compatibleFrom, index + 1);
      }
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  }
  if (db.all(SELECT_STALE_ENDS).length > 0) db.exec(CORRECT_ENDS);
}

/** Of a schema that is newer than this program. */
export const SELECT_COMPATIBLE = "SELECT compatible_from FROM migrations ORDER BY version DESC LIMIT 1";
const SET_COMPATIBLE = "UPDATE migrations SET compatible_from = ? WHERE version = ?";
/** A server of version 0.1 that still runs after the migration numbers log entries without `log_ends`. */
const SELECT_STALE_ENDS = `SELECT logs.org_id, MAX(logs.seq) AS seq FROM organizations
JOIN logs ON logs.org_id = organizations.org_id
  AND logs.seq > COALESCE((SELECT seq FROM log_ends WHERE log_ends.org_id = organizations.org_id), 0)
GROUP BY logs.org_id`;
const CORRECT_ENDS = `INSERT INTO log_ends (org_id, seq) SELECT org_id, seq FROM (${SELECT_STALE_ENDS}) AS stale WHERE true
ON CONFLICT (org_id) DO UPDATE SET seq = MAX(log_ends.seq, excluded.seq)`;

/**
 * @param from - the stored `compatibleFrom`
 * @throws Error when the schema is newer than this program, and too new to work with it
 */
export function checkVersion(version: number, from: unknown): void {
  if (version <= migrations.length || (typeof from === "number" && migrations.length >= from)) return;
  throw new Error(
    `Cannot open the store: it has schema version ${version}, this program knows ${migrations.length}; use a newer svc.`,
  );
}

function versionOf(db: MigrationTarget): number {
  return Number(db.all("SELECT COALESCE(MAX(version), 0) AS version FROM migrations")[0]?.version);
}
