/** A table of rows that link to pages. */

import type { ComponentChildren } from "preact";
import { localTime } from "../lib/format.ts";
import type { List } from "../lib/list.ts";
import { Scroll } from "./scroll.tsx";

export interface Column<Row> {
  title: string;
  cell(row: Row): ComponentChildren;
  /** Columns that a screen between phone and tablet leaves out. */
  wide?: boolean;
  numeric?: boolean;
}

/** With explicit roles, a table that a phone shows as cards stays one for assistive technology. */
const role = {
  table: { role: "table" },
  rowgroup: { role: "rowgroup" },
  row: { role: "row" },
  columnheader: { role: "columnheader" },
  cell: { role: "cell" },
} as const;

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
      <table class="rows" {...role.table}>
        <thead {...role.rowgroup}>
          <tr {...role.row}>
            {columns.map((column) => (
              <th key={column.title} scope="col" {...role.columnheader} class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...role.rowgroup}>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...role.row}>
              {columns.map((column) => (
                <td key={column.title} {...role.cell} class={classOf(column)} data-title={column.title}>
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

/** What follows the rows: a search that has not found enough yet, and the next page. */
export function More<Row>({ list }: { list: List<Row> }) {
  const { token, searchedTo, isBusy, more } = list;
  if (token === "") return null;
  return (
    <div class="more">
      {searchedTo === null ? null : (
        <p class="searched dim" role="status">
          Searched back to {localTime(searchedTo)}.
        </p>
      )}
      <button type="button" disabled={isBusy} onClick={more}>
        {isBusy ? "Searching …" : searchedTo === null ? "Older" : "Search further"}
      </button>
    </div>
  );
}
