/**
 * Consistent copies of an embedded store, while a server writes to it or not.
 *
 * `VACUUM INTO` reads one snapshot and does not hold up the writer. It took as long as SQLite's online backup (0.7 s against
 * 0.65 s for 270 MB), which is an API of each runtime instead of a statement, must hold a read transaction to come to an end
 * next to a busy writer, and copies free pages too. Meanwhile the write-ahead log cannot start over, and grows.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPrivateFile } from "../data-dir.ts";

/** What a copy contains. */
export interface Contents {
  schemaVersion: number;
  /** The oldest schema version whose programs work with this one; null before that was recorded. */
  compatibleFrom: number | null;
  /** Rows by table. */
  tables: Record<string, number>;
}

export interface StoredObject {
  org_id: string;
  digest: string;
  /** Whether a deployment or an unfinished execution needs it. */
  used: number;
}

const SELECT_TABLES =
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
const SELECT_VERSION = "SELECT * FROM migrations ORDER BY version DESC LIMIT 1";
const SELECT_OBJECTS = `SELECT org_id, digest, EXISTS (
  SELECT 1 FROM deployments d WHERE d.org_id = o.org_id AND d.digest = o.digest AND (d.status <> 'deleted' OR EXISTS (
    SELECT 1 FROM executions x WHERE x.org_id = d.org_id AND x.deployment_id = d.deployment_id
      AND x.status IN ('queued', 'running')))) AS used
FROM objects o ORDER BY org_id, digest`;
const DELETE_OBJECT = "DELETE FROM objects WHERE org_id = ? AND digest = ?";

/**
 * Copies the store of a data folder to a new file that only its owner can access. Does not change the store: its schema may
 * be an older one.
 * @throws Error when the copy cannot be written
 */
export function copySnapshot(dataDir: string, target: string): void {
  createPrivateFile(target);
  using source = open(join(dataDir, "svc.db"));
  // The copy returns its free pages, also when the store is older than that.
  source.exec("PRAGMA auto_vacuum = INCREMENTAL");
  source.prepare("VACUUM INTO ?").run(target);
}

/** @throws Error when the file is not a store */
export function contentsOf(file: string): Contents {
  using db = open(file);
  const names = db.prepare(SELECT_TABLES).all() as { name: string }[];
  const tables = names.map(({ name }) => {
    const row = db.prepare(`SELECT COUNT(*) AS count FROM "${name.replaceAll('"', '""')}"`).get();
    return [name, Number(row?.count)];
  });
  const version = db.prepare(SELECT_VERSION).get();
  return {
    schemaVersion: Number(version?.version),
    compatibleFrom: typeof version?.compatible_from === "number" ? version.compatible_from : null,
    tables: Object.fromEntries(tables),
  };
}

/** @returns the problems that SQLite finds in the structure of a file */
export function problemsOf(file: string): string[] {
  using db = open(file);
  const rows = db.prepare("PRAGMA quick_check").all() as { quick_check: string }[];
  return rows.map((row) => row.quick_check).filter((text) => text !== "ok");
}

/** The packages in a copy. */
export function objectsOf(file: string): StoredObject[] {
  using db = open(file);
  return db.prepare(SELECT_OBJECTS).all() as unknown as StoredObject[];
}

/** Removes packages from a copy. */
export function removeObjects(file: string, objects: readonly StoredObject[]): void {
  using db = open(file);
  const statement = db.prepare(DELETE_OBJECT);
  for (const { org_id, digest } of objects) statement.run(org_id, digest);
}

function open(file: string): DatabaseSync & Disposable {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA busy_timeout = 5000");
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}
