import { out } from "./colors.ts";

/** A cell: its text, and how it is painted. Painting comes after measuring, so that colours take no width. */
export type Cell = string | { text: string; paint: (text: string) => string };

/**
 * Rows in aligned columns below a dim heading. On a terminal the last column is cut at the edge, so that each row
 * stays one line; elsewhere nothing is cut.
 *
 * @param margin - what stands before each row
 */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[], margin = ""): string {
  const widths = headings.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[column] ?? "").length)),
  );
  const edge = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  const line = (cells: readonly Cell[]): string => {
    let used = margin.length;
    return cells
      .map((cell, column) => {
        const isLast = column === cells.length - 1;
        const width = widths[column] ?? 0;
        const text = textOf(cell);
        const cut =
          isLast && used + text.length > edge ? `${text.slice(0, Math.max(0, edge - used - 1))}…` : text;
        used += width + 2;
        const painted = typeof cell === "string" ? cut : cell.paint(cut);
        return isLast ? painted : painted + " ".repeat(width - text.length);
      })
      .join("  ");
  };
  const heading = headings.map((text): Cell => ({ text, paint: out.dim }));
  return [heading, ...rows].map((cells) => margin + line(cells)).join("\n");
}

/** Labels and values, aligned: `status   succeeded`. Rows whose value is empty are left out. */
export function fields(rows: readonly (readonly [label: string, value: string])[]): string {
  const shown = rows.filter(([, value]) => value !== "");
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${out.dim(label.padEnd(width))}  ${value}`).join("\n");
}

/** Every line of a text, moved to the right. */
export function indent(text: string, by = "  "): string {
  return text.replace(/^(?=.)/gm, by);
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}
