import { stdoutColors as colors } from "./colors.ts";
import { sanitizeLine } from "./sanitize.ts";

/** A cell: its text, and its color. Widths are measured without color. */
export type Cell = string | { text: string; paint: (text: string) => string };

/**
 * Formats rows in aligned columns below a dim heading. On a terminal each row is cut at the right edge, so that it stays
 * on one line.
 *
 * @param marginWidth - columns to keep free for the indentation of the table
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  marginWidth = 0,
): string {
  const widths = headings.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => textOf(row[column] ?? "").length)),
  );
  const edge = process.stdout.isTTY ? process.stdout.columns - marginWidth : Number.POSITIVE_INFINITY;
  const line = (cells: readonly Cell[]): string => {
    let text = "";
    let used = 0;
    for (const [column, cell] of cells.entries()) {
      const room = edge - used;
      if (room <= 0) break;
      const content = textOf(cell);
      const cut = content.length > room ? `${content.slice(0, room - 1)}…` : content;
      const width = (widths[column] ?? 0) + 2;
      text += (typeof cell === "string" ? cut : cell.paint(cut)) + " ".repeat(width - content.length);
      used += width;
    }
    return text.trimEnd();
  };
  const heading = headings.map((text): Cell => ({ text, paint: colors.dim }));
  return [heading, ...rows].map(line).join("\n");
}

/** Formats labels and values: `status   succeeded`. Rows with an empty value are left out. */
export function fields(rows: readonly (readonly [label: string, value: string])[]): string {
  const shown = rows.filter(([, value]) => value !== "");
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${colors.dim(label.padEnd(width))}  ${value}`).join("\n");
}

/** Formats a titled, indented block; an empty string when the body is empty. */
export function section(title: string, body: string | readonly string[]): string {
  const text = typeof body === "string" ? body : body.join("\n");
  return text === "" ? "" : `${colors.bold(title)}\n${indent(text)}`;
}

/** Joins the parts that are not empty with blank lines. */
export function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}

/** Indents every line that is not empty. */
export function indent(text: string, by = "  "): string {
  return text.replace(/^(?=.)/gm, by);
}

function textOf(cell: Cell): string {
  return sanitizeLine(typeof cell === "string" ? cell : cell.text);
}
