/** The text and the bound values of a statement. */
import { toPostgres } from "../dialects/postgres.ts";
import type { Statement } from "../engine.ts";
import { type Bound, bind, bindColumns } from "./values.ts";

export interface PreparedStatement {
  text: string;
  values: Bound[];
}

const texts = new Map<string, string>();

/** Null when the statement has an empty row set and so no effect. */
export function prepare({ sql, params, rows }: Statement): PreparedStatement | null {
  if (rows?.length === 0) return null;
  let text = texts.get(sql);
  if (text === undefined) {
    text = toPostgres(sql);
    texts.set(sql, text);
  }
  const values = params.map(bind);
  return { text, values: rows === undefined ? values : [...values, ...bindColumns(rows)] };
}
