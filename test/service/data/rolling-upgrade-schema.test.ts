/** Steps of the schema that servers of the previous version can work with, and a snapshot of PostgreSQL's schema. */
import { expect, test } from "vitest";
import { compatibleFrom, migrations } from "../../../server/store/migrations.ts";
import { openPostgres } from "../../../server/store/postgres/index.ts";
import { createDatabase, onDatabase } from "../../support/postgres/databases.ts";

const column = String.raw`ADD COLUMN \w+ (?:TEXT|BIGINT)(?: NOT NULL DEFAULT [^,]+)?`;
const additive = [
  /^CREATE TABLE \w+ \(/,
  // A unique index would refuse rows that the previous version writes, unless its table is new.
  /^CREATE INDEX \w+ ON /,
  new RegExp(`^ALTER TABLE \\w+ ${column}$`),
];

/** The statements of a step that servers of the previous version may fail on. */
function breakingStatements(step: string): string[] {
  const statements = step.split(";").map((text) => text.replaceAll(/\s+/g, " ").trim());
  const created = statements.flatMap((text) => /^CREATE TABLE (\w+)/.exec(text)?.[1] ?? []);
  const ofNewTable = (text: string) =>
    created.some((table) =>
      new RegExp(`^(?:CREATE UNIQUE INDEX \\w+ ON|INSERT INTO|UPDATE) ${table}\\b`).test(text),
    );
  return statements.filter(
    (text) => text !== "" && !ofNewTable(text) && !additive.some((pattern) => pattern.test(text)),
  );
}

test.each([
  "CREATE TABLE t (a TEXT PRIMARY KEY); CREATE UNIQUE INDEX u ON t (a); INSERT INTO t (a) SELECT a FROM s;",
  "ALTER TABLE t ADD COLUMN a TEXT;",
  "ALTER TABLE t ADD COLUMN a BIGINT NOT NULL DEFAULT 0;",
  "CREATE INDEX i ON t (a) WHERE a IS NULL;",
])("the check accepts %j", (step) => {
  expect(breakingStatements(step)).toEqual([]);
});

test.each([
  "ALTER TABLE t ADD COLUMN a BIGINT NOT NULL",
  "ALTER TABLE t ADD COLUMN a TEXT UNIQUE",
  "ALTER TABLE t DROP COLUMN a",
  "ALTER TABLE t RENAME TO s",
  "CREATE UNIQUE INDEX u ON t (a)",
  "DROP TABLE t",
  "DROP INDEX i",
  "UPDATE t SET a = 1",
  "DELETE FROM t",
  "INSERT INTO t (a) VALUES (1)",
])("the check rejects %j", (step) => {
  expect(breakingStatements(`CREATE TABLE other (a TEXT);\n${step};`)).toEqual([step]);
});

test("the steps after the oldest compatible version only add", () => {
  expect(compatibleFrom).toBeGreaterThanOrEqual(1);
  expect(compatibleFrom).toBeLessThanOrEqual(migrations.length);
  expect(migrations.slice(compatibleFrom).flatMap(breakingStatements)).toEqual([]);
});

const COLUMNS = `SELECT table_name || '.' || column_name AS name, concat_ws(' ', data_type, collation_name,
  CASE is_nullable WHEN 'NO' THEN 'not null' END, 'default ' || column_default,
  CASE is_identity WHEN 'YES' THEN 'identity' END) AS definition
FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`;
const INDEXES =
  "SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1";
const CONSTRAINTS = `SELECT conrelid::regclass || '.' || conname AS name, pg_get_constraintdef(oid) AS definition
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY 1`;

test("PostgreSQL's schema is the one of the snapshot", async () => {
  const { url, drop } = await createDatabase();
  try {
    await (await openPostgres({ url })).close();
    const parts: string[] = [];
    for (const sql of [COLUMNS, INDEXES, CONSTRAINTS]) {
      const rows = await onDatabase<{ name: string; definition: string }>(url, sql);
      parts.push(rows.map(({ name, definition }) => `${name}: ${definition}\n`).join(""));
    }
    await expect(parts.join("\n")).toMatchFileSnapshot("rolling-upgrade-schema.txt");
  } finally {
    await drop();
  }
});
