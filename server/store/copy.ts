/**
 * Copies a store to an empty one of any engine, in pages by primary key, and compares every row afterwards. The source must
 * not change meanwhile. A copy that fails leaves an incomplete target.
 */
import { all, type Engine, each, first, type Row, type SqlValue } from "./engine.ts";

export interface Table {
  name: string;
  columns: { name: string; type: "text" | "int" }[];
  /** The columns of the primary key, in order. */
  key: string[];
}

export interface CopiedTable {
  table: string;
  rows: number;
  /** Texts in which the target cannot store U+0000, which became U+FFFD. */
  replaced: number;
}

/** Rows may be as large as an execution's input and output. */
const pageSize = 100;

/** The tables of an embedded store, those that others refer to first. `migrations` belongs to each store. */
export async function tablesOf(sqlite: Engine): Promise<Table[]> {
  const names = await sqlite.read(() =>
    all<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'migrations' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    ),
  );
  const tables: Table[] = [];
  for (const { name } of names) {
    const info = await sqlite.read(() =>
      all<{ name: string; type: string; pk: number }>(
        "SELECT name, type, pk FROM pragma_table_info(?1)",
        name,
      ),
    );
    const key = info.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    tables.push({
      name,
      columns: info.map((column) => ({ name: column.name, type: column.type === "TEXT" ? "text" : "int" })),
      key: key.map((column) => column.name),
    });
  }
  return tables.sort((a, b) => Number(b.name === "organizations") - Number(a.name === "organizations"));
}

/** @throws Error when the target has rows, or differs from the source afterwards */
export async function copyStore(
  source: Engine,
  target: Engine,
  tables: readonly Table[],
): Promise<CopiedTable[]> {
  for (const { name } of tables) {
    if ((await target.read(() => first(`SELECT 1 AS found FROM ${name} LIMIT 1`))) === undefined) continue;
    throw new Error(`Cannot copy the store: the target must be empty, and its table ${name} has rows.`);
  }
  for (const table of tables) {
    for await (const page of pages(source, table)) {
      const rows = page.map((row) => table.columns.map(({ name }) => row[name] ?? null));
      await target.write(() => each(insertInto(table), rows));
    }
  }
  const copied: CopiedTable[] = [];
  for (const table of tables) copied.push(await compare(source, target, table));
  return copied;
}

function insertInto({ name, columns }: Table): string {
  const names = columns.map((column) => column.name);
  const types = columns.map((column) => `${column.name} ${column.type}`);
  return `INSERT INTO ${name} (${names.join(", ")})
SELECT ${names.map((column) => `r.${column}`).join(", ")} FROM ROWS(${types.join(", ")}) r`;
}

/** All rows of a table in the order of its key. */
async function* pages(engine: Engine, { name, columns, key }: Table): AsyncGenerator<Row[]> {
  const names = columns.map((column) => column.name).join(", ");
  const order = `ORDER BY ${key.join(", ")} LIMIT ${pageSize}`;
  const parameters = key.map((column, index) => {
    const isText = columns.some((one) => one.name === column && one.type === "text");
    return `CAST(?${index + 1} AS ${isText ? "TEXT" : "BIGINT"})`;
  });
  const next = `SELECT ${names} FROM ${name} WHERE (${key.join(", ")}) > (${parameters.join(", ")}) ${order}`;
  let page = await engine.read(() => all(`SELECT ${names} FROM ${name} ${order}`));
  while (page.length > 0) {
    yield page;
    const last = page.at(-1) ?? {};
    page = await engine.read(() => all(next, ...key.map((column) => last[column] ?? null)));
  }
}

/** @throws Error that names the first row that differs */
async function compare(source: Engine, target: Engine, table: Table): Promise<CopiedTable> {
  const result = { table: table.name, rows: 0, replaced: 0 };
  const copies = pages(target, table);
  for await (const page of pages(source, table)) {
    const { value: copy } = await copies.next();
    for (const [index, row] of page.entries()) {
      const other: Row = copy?.[index] ?? {};
      const differing = table.columns.find(({ name }) => !isSame(row[name], other[name], result));
      if (differing !== undefined) {
        const id = table.key.map((column) => String(row[column])).join(", ");
        throw new Error(
          `Cannot copy the store: the copy of row (${id}) of ${table.name} differs in ${differing.name}.`,
        );
      }
      result.rows++;
    }
    if ((copy?.length ?? 0) > page.length) throw tooManyRows(table);
  }
  if ((await copies.next()).done !== true) throw tooManyRows(table);
  return result;
}

function isSame(
  value: SqlValue | undefined,
  copy: SqlValue | undefined,
  result: { replaced: number },
): boolean {
  if (value === copy) return true;
  if (typeof value !== "string" || !value.includes("\0")) return false;
  result.replaced++;
  return value.replaceAll("\0", "\ufffd") === copy;
}

function tooManyRows({ name }: Table): Error {
  return new Error(`Cannot copy the store: the copy of ${name} has more rows than the original.`);
}
