/** The schema of both engines. */
import { expect, test } from "vitest";
import { tablesOf } from "../../server/store/copy.ts";
import { all } from "../../server/store/engine.ts";
import { stores } from "./stores.ts";

const COLUMNS = `SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`;

interface Column {
  table_name: string;
  column_name: string;
  data_type: string;
}

test("PostgreSQL has the tables and columns of the embedded store", async () => {
  const tables = await tablesOf(await (await stores.sqlite()).open());
  const embedded = tables.flatMap(({ name, columns }) =>
    columns.map((column) => `${name}.${column.name} ${column.type === "text" ? "text" : "bigint"}`),
  );
  const engine = await (await stores.postgres()).open();
  const columns = await engine.read(() => all<Column>(COLUMNS));
  const own = columns.filter(({ table_name }) => !["migrations", "commit_marks"].includes(table_name));
  const found = own.map(
    ({ table_name, column_name, data_type }) => `${table_name}.${column_name} ${data_type}`,
  );
  expect(found.toSorted()).toEqual(embedded.toSorted());
});
