/** Inserts lines into the text of a YAML file at positions that the `yaml` package reports. */

/** The end of a node without the comments after it. */
export function contentEnd(node: unknown): number | null {
  const range = typeof node === "object" && node !== null && "range" in node ? node.range : null;
  return Array.isArray(range) && typeof range[1] === "number" ? range[1] : null;
}

/** Returns the start of the line after a position, or the end of the text. */
export function lineEnd(text: string, position: number): number {
  // The range of a block ends after its last line break, where the next line starts.
  if (position > 0 && text[position - 1] === "\n") return position;
  const next = text.indexOf("\n", position);
  return next === -1 ? text.length : next + 1;
}

/** The column of a position, from 0. */
export function columnOf(text: string, position: number): number {
  return position - (text.lastIndexOf("\n", position - 1) + 1);
}

/** The line break of a text. */
export function lineBreakOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Inserts whole lines, preceded by a line break when the text before them does not end with one. */
export function insertLines(text: string, position: number, lines: string): string {
  const before = text.slice(0, position);
  const gap = before === "" || before.endsWith("\n") ? "" : lineBreakOf(text);
  return before + gap + lines + text.slice(position);
}
