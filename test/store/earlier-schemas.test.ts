/**
 * Stores of every earlier schema, with two rows in each table. The steps make them, so that a released step must not change:
 * `test/fixtures/schema-steps.txt` has the SHA-256 of each. Append that of a new step with
 * `npx vitest run test/store/earlier-schemas.test.ts --update`.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { backUp } from "../../server/admin/backup/create.ts";
import { restore } from "../../server/admin/backup/restore.ts";
import type { Row, SqlValue } from "../../server/store/engine.ts";
import { migrate } from "../../server/store/migrate.ts";
import { migrations } from "../../server/store/migrations.ts";
import { openSqlite } from "../../server/store/sqlite/index.ts";
import { contentsOf } from "../../server/store/sqlite/snapshot.ts";
import { root } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/store.ts";

const versions = migrations.map((_, index) => index + 1);

/** Columns that a later step removed. */
const removed = new Set(["deliveries.slot"]);

/** A store of a version as SQL text. */
function dump(version: number): string {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE migrations (version BIGINT PRIMARY KEY, applied_at BIGINT NOT NULL)");
  for (const step of migrations.slice(0, version)) db.exec(step);
  const schema = db
    .prepare("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    .all();
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
  const inserts = tables
    .toSorted((a, b) => Number(b === "organizations") - Number(a === "organizations"))
    .flatMap((table) => insertsOf(db, table, version));
  db.close();
  return `${[...schema.map(({ sql }) => `${String(sql).replaceAll(/\s+/g, " ")};`), ...inserts].join("\n")}\n`;
}

function insertsOf(db: DatabaseSync, table: string, version: number): string[] {
  const columns = db.prepare("SELECT name, type FROM pragma_table_info(?)").all(table) as {
    name: string;
    type: string;
  }[];
  const names = columns.map(({ name }) => name);
  const insert = (values: readonly string[]) =>
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${values.join(", ")});`;
  if (table === "migrations") {
    return Array.from({ length: version }, (_, index) =>
      insert(
        names.map((name) => (name === "version" ? String(index + 1) : name === "applied_at" ? "1" : "NULL")),
      ),
    );
  }
  return [1, 2].map((row) => insert(columns.map(({ name, type }) => literalOf(table, name, type, row))));
}

function literalOf(table: string, name: string, type: string, row: number): string {
  if (type !== "TEXT") return String(name === "id" || name.endsWith("seq") ? row : 1000 + row);
  if (name === "org_id") return `'org_${String(row).repeat(26)}'`;
  return `'${table}.${name} é ${row}'`;
}

/** A data folder with the store of a version. */
function folderOf(version: number): string {
  const dataDir = temporaryFolder();
  const db = new DatabaseSync(join(dataDir, "svc.db"));
  db.exec("PRAGMA synchronous = OFF");
  db.exec(dump(version));
  db.close();
  return dataDir;
}

/** The rows of every table of a version, as the newest schema has them. */
function rowsOf(version: number): { table: string; columns: string[]; rows: object[] }[] {
  const db = new DatabaseSync(":memory:");
  db.exec(dump(version));
  const tables = db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations'")
    .all();
  const all = tables.map(({ name: table }) => {
    const info = db.prepare("SELECT name FROM pragma_table_info(?)").all(String(table));
    const columns = info.map(({ name }) => String(name)).filter((name) => !removed.has(`${table}.${name}`));
    const rows = db.prepare(`SELECT ${columns.join(", ")} FROM ${table} ORDER BY 1`).all();
    return { table: String(table), columns, rows };
  });
  db.close();
  return all;
}

test("no released step has changed", async () => {
  const lines = migrations.map((step) => `${createHash("sha256").update(step).digest("hex")}\n`);
  await expect(lines.join("")).toMatchFileSnapshot(join(root, "test/fixtures/schema-steps.txt"));
});

test.each(versions)("a store of schema %i is upgraded with all rows", (version) => {
  const db = new DatabaseSync(":memory:");
  db.exec(dump(version));
  const all = (sql: string, ...params: SqlValue[]) => db.prepare(sql).all(...params) as Row[];
  migrate({ exec: (sql) => db.exec(sql), all });
  expect(all("SELECT MAX(version) AS newest FROM migrations")).toEqual([{ newest: migrations.length }]);
  for (const { table, columns, rows } of rowsOf(version)) {
    expect(all(`SELECT ${columns.join(", ")} FROM ${table} ORDER BY 1`), table).toEqual(rows);
  }
  db.close();
});

test("a backup of an earlier store keeps its schema, and is upgraded after the restore", async () => {
  const dataDir = folderOf(1);
  const file = join(dataDir, "backup.tar");
  await backUp(dataDir, {
    file,
    output: process.stdout,
    overwrite: false,
    withMasterKey: false,
    packagesInStorage: true,
  });
  expect(contentsOf(join(dataDir, "svc.db")).schemaVersion).toBe(1);
  const restored = temporaryFolder();
  await restore(
    (async function* () {
      yield readFileSync(file);
    })(),
    restored,
  );
  expect(contentsOf(join(restored, "svc.db")).schemaVersion).toBe(1);
  await openSqlite(restored).close();
  expect(contentsOf(join(restored, "svc.db")).schemaVersion).toBe(migrations.length);
});

test("a newer store is refused with both versions, and not changed", () => {
  const dataDir = folderOf(versions.length);
  const newer = migrations.length + 1;
  const db = new DatabaseSync(join(dataDir, "svc.db"));
  db.prepare("INSERT INTO migrations (version, applied_at, compatible_from) VALUES (?, 1, ?)").run(
    newer,
    newer,
  );
  db.close();
  expect(() => openSqlite(dataDir)).toThrow(
    `Cannot open the store: it has schema version ${newer}, this program knows ${migrations.length}; use a newer svc.`,
  );
  expect(contentsOf(join(dataDir, "svc.db")).schemaVersion).toBe(newer);
  expect(existsSync(join(dataDir, "svc.db"))).toBe(true);
});
