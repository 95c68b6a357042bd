/** The text and the bound values of a statement. */
import { type PostgresText, toPostgres } from "../dialects/postgres.ts";
import type { Statement } from "../engine.ts";
import { bindColumns } from "./arrays.ts";
import { type Bound, bind } from "./values.ts";

export interface PreparedStatement {
  text: string;
  values: Bound[];
}

const texts = new Map<string, PostgresText>();

/** Null when the statement has an empty row set and so no effect. */
export function prepare({ sql, params, rows }: Statement): PreparedStatement | null {
  if (rows?.length === 0) return null;
  let known = texts.get(sql);
  if (known === undefined) {
    known = toPostgres(sql);
    texts.set(sql, known);
  }
  const { text, columns } = known;
  const values = params.map(bind);
  return { text, values: rows === undefined ? values : [...values, ...bindColumns(rows, columns)] };
}
