/**
 * The row set of a statement: `ROWS(org_id text, seq int) r` after FROM, USING or a comma. `r.org_id` is a column. The types
 * are `text` and `int` (64 bits).
 */
export interface RowSet {
  columns: { name: string; type: "text" | "int" }[];
  /** The number of the parameter that follows the statement's own ones. */
  firstParameter: number;
}

const source = /\s*(FROM|USING|,)\s+ROWS\(([^)]*)\) r\b/;

/** The row set of a text; null when it has none. @throws Error when a column has no known type */
export function rowSetOf(sql: string): RowSet | null {
  const found = source.exec(sql);
  if (found === null) return null;
  const columns = (found[2] ?? "").split(",").map((column) => {
    const [name = "", type] = column.trim().split(/\s+/);
    if (type !== "text" && type !== "int") {
      throw new Error(
        `Cannot use column '${name}' of a row set: its type must be text or int, not '${type}'.`,
      );
    }
    return { name, type } as const;
  });
  const numbers = [...sql.matchAll(/\?(\d+)/g)].map((match) => Number(match[1]));
  return { columns, firstParameter: Math.max(0, ...numbers) + 1 };
}

/** Replaces the row set and the word before it. */
export function replaceRowSet(sql: string, replacement: (word: string) => string): string {
  return sql.replace(source, (_all, word: string) => replacement(word));
}
