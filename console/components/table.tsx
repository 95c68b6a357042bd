/** A table of rows that link to pages. */

import type { ComponentChildren } from "preact";
import { Scroll } from "./scroll.tsx";

export interface Column<Row> {
  title: string;
  cell(row: Row): ComponentChildren;
  /** Columns that a narrow screen leaves out. */
  wide?: boolean;
  numeric?: boolean;
}

export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
}) {
  const classOf = ({ wide = false, numeric = false }: Column<Row>) =>
    [wide ? "wide" : "", numeric ? "numeric" : ""].join(" ").trim();
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function More({ token, onMore }: { token: string; onMore(): void }) {
  if (token === "") return null;
  return (
    <p class="more">
      <button type="button" onClick={onMore}>
        Older
      </button>
    </p>
  );
}
