/**
 * The arrangement of table columns on a terminal. Cells of a plain column are never cut, so that every ID can be copied.
 * A table that is wider than the terminal becomes narrower in this order:
 *
 * 1. Columns of the role `detail` move to lines of their own below the row.
 * 2. Columns of the role `name` are shortened in the middle, to 24 characters.
 * 3. Columns of the role `extra` are left out, from the right.
 * 4. Columns of the role `name` are shortened to 12 characters.
 * 5. The rightmost columns move to further lines.
 */
export type Column = string | { title: string; role: "name" | "extra" | "detail" };

/** A column in one of the lines of a row. */
export interface Place {
  /** Index of the column. */
  column: number;
  width: number;
}

/** Spaces between two columns. */
export const gap = 2;
/** Spaces before all lines of a row except the first. */
export const continuationIndent = 2;
const comfortableNameWidth = 24;
const minNameWidth = 12;

/**
 * Distributes the columns of a table over the lines of a row.
 *
 * @param widths - the widest cell of each column, its title included
 * @param edge - columns of the terminal
 */
export function arrange(columns: readonly Column[], widths: readonly number[], edge: number): Place[][] {
  const all = columns.map((_, column) => column);
  const natural = (column: number) => widths[column] ?? 0;
  const least = (column: number, nameWidth: number) =>
    isRole(columns[column], "name") ? Math.min(natural(column), nameWidth) : natural(column);
  const fits = (kept: readonly number[], nameWidth: number) =>
    total(kept.map((column) => least(column, nameWidth))) <= edge;
  if (fits(all, Number.POSITIVE_INFINITY)) return [all.map((column) => ({ column, width: natural(column) }))];

  const details = all.filter((column) => isRole(columns[column], "detail"));
  let kept = all.filter((column) => !details.includes(column));
  for (const column of kept.filter((each) => isRole(columns[each], "extra")).toReversed()) {
    if (fits(kept, comfortableNameWidth)) break;
    kept = kept.filter((other) => other !== column);
  }
  const lines: number[][] = [[]];
  for (const column of kept) {
    const line = lines.at(-1) ?? [];
    const room = edge - (lines.length > 1 ? continuationIndent : 0);
    const used = total([...line, column].map((each) => least(each, minNameWidth)));
    if (line.length > 0 && used > room) lines.push([column]);
    else line.push(column);
  }
  return [...lines, ...details.map((column) => [column])].map((line, index) => {
    const room = edge - (index > 0 ? continuationIndent : 0);
    let spare = room - total(line.map((column) => least(column, minNameWidth)));
    return line.map((column) => {
      const width = least(column, minNameWidth);
      const grown = Math.min(natural(column) - width, Math.max(0, spare));
      spare -= grown;
      return { column, width: width + grown };
    });
  });
}

/** The name of a column. */
export function titleOf(column: Column): string {
  return typeof column === "string" ? column : column.title;
}

export function isRole(column: Column | undefined, role: "name" | "extra" | "detail"): boolean {
  return typeof column === "object" && column.role === role;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * Math.max(0, widths.length - 1));
}
