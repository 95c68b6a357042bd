import { stdoutColors as colors } from "./colors.ts";
import { arrange, type Column, continuationIndent, gap, isRole, type Place, titleOf } from "./columns.ts";
import { sanitizeLine } from "./sanitize.ts";
import { shorten, widthOf } from "./width.ts";
import { columnsOf, wrapWords } from "./wrap.ts";

/** A cell: its text, and its color. Widths are measured without color. */
export type Cell = string | { text: string; paint: (text: string) => string };

/**
 * Formats rows in aligned columns below a dim heading. On a terminal that is too narrow, the roles of the columns decide
 * which of them become shorter; see `columns.ts`.
 *
 * @param indentation - columns that the caller puts before each line
 * @param terminalWidth - columns of the terminal; infinite when standard output is not one
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  indentation = 0,
  terminalWidth: number = columnsOf(process.stdout),
): string {
  const widths = columns.map((column, index) =>
    Math.max(titleOf(column).length, ...rows.map((row) => widthOf(textOf(row[index] ?? "")))),
  );
  const arrangement = arrange(columns, widths, terminalWidth - indentation);
  const heading = columns.map((column): Cell => ({ text: titleOf(column), paint: colors.dim }));
  const room = terminalWidth - indentation - continuationIndent;
  return [heading, ...rows]
    .flatMap((cells) =>
      arrangement.flatMap((places, index) => {
        if (index === 0) return [lineOf(places, cells)];
        const [only] = places.length === 1 ? places : [];
        const lines =
          only !== undefined && isRole(columns[only.column], "detail")
            ? wrapWords(textOf(cells[only.column] ?? ""), room).map((text) =>
                painted(cells[only.column], text),
              )
            : [lineOf(places, cells)];
        return lines.filter((line) => line !== "").map((line) => " ".repeat(continuationIndent) + line);
      }),
    )
    .join("\n");
}

function lineOf(places: readonly Place[], cells: readonly Cell[]): string {
  return places
    .map(({ column, width }) => {
      const text = shorten(textOf(cells[column] ?? ""), width);
      return painted(cells[column], text) + " ".repeat(width - widthOf(text));
    })
    .join(" ".repeat(gap))
    .trimEnd();
}

function painted(cell: Cell | undefined, text: string): string {
  return typeof cell === "object" && text !== "" ? cell.paint(text) : text;
}

/**
 * Formats labels and values such as URLs in two columns. A value that would reach beyond the terminal has a line of its
 * own, so that it can be copied whole.
 *
 * @param rows - labels, their colored form, and values
 * @param indentation - columns that the caller puts before each line
 */
export function labelled(
  rows: readonly (readonly [label: string, painted: string, value: string])[],
  indentation: number,
  terminalWidth: number = columnsOf(process.stdout),
): string[] {
  const width = Math.max(0, ...rows.map(([label]) => label.length)) + gap;
  return rows.map(([label, paintedLabel, value]) =>
    indentation + width + value.length <= terminalWidth
      ? `${paintedLabel}${" ".repeat(width - label.length)}${value}`
      : `${paintedLabel}\n${" ".repeat(continuationIndent)}${value}`,
  );
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
