/**
 * Brings a PostgreSQL database to the newest schema: the steps of `migrations.ts` in one transaction. Many processes may
 * start at once: an advisory lock admits one, and the next one finds the steps applied.
 */
import { migrationToPostgres } from "../dialects/postgres.ts";
import { checkVersion, SELECT_COMPATIBLE } from "../migrate.ts";
import { compatibleFrom, migrations } from "../migrations.ts";
import type { Connection } from "./connection.ts";

/** Any number: the lock's name within the database. */
const lock = "7238915501";

const CREATE = `CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS commit_marks (writer TEXT PRIMARY KEY, number BIGINT NOT NULL, at BIGINT NOT NULL)`;
const EXISTS =
  "SELECT to_regclass('migrations') IS NOT NULL AND to_regclass('commit_marks') IS NOT NULL AS found";
const VERSION = "SELECT COALESCE(MAX(version), 0) AS version FROM migrations";
const SET_COMPATIBLE = "UPDATE migrations SET compatible_from = $1 WHERE version = $2";
/** The rows of connections that ended more than a day ago. */
const DELETE_OLD_MARKS = "DELETE FROM commit_marks WHERE at < $1";

/** @throws Error when the schema is newer than this program */
export async function migratePostgres(connection: Connection): Promise<void> {
  if ((await appliedVersion(connection)) < migrations.length) {
    try {
      await connection.script("BEGIN");
      await connection.query("SELECT pg_advisory_xact_lock($1)", [lock]);
      await connection.script(CREATE);
      const version = await versionOf(connection);
      for (const [index, step] of migrations.entries()) {
        if (index < version) continue;
        await connection.script(migrationToPostgres(step));
        const values = [String(index + 1), String(Date.now())];
        await connection.query("INSERT INTO migrations (version, applied_at) VALUES ($1, $2)", values);
      }
      await connection.query(SET_COMPATIBLE, [String(compatibleFrom), String(migrations.length)]);
      await connection.script("COMMIT");
    } catch (error) {
      await connection.script("ROLLBACK").catch(() => {});
      throw error;
    }
  }
  await connection.query(DELETE_OLD_MARKS, [String(Date.now() - 86_400_000)]);
}

/** The version of the schema without a lock; 0 for an empty database. */
export async function appliedVersion(connection: Connection): Promise<number> {
  const { rows } = await connection.query(EXISTS);
  return rows[0]?.found === 1 ? versionOf(connection) : 0;
}

async function versionOf(connection: Connection): Promise<number> {
  const version = Number((await connection.query(VERSION)).rows[0]?.version);
  if (version > migrations.length) {
    checkVersion(version, (await connection.query(SELECT_COMPATIBLE)).rows[0]?.compatible_from);
  }
  return version;
}
