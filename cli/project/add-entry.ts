import { isMap, isScalar, isSeq, parseDocument } from "yaml";

/**
 * Adds an entry to a list of a project file and keeps every other character: comments, order, quotes and blank lines.
 * Serializing the parsed document would lose some of them.
 *
 * @param key - key of the list
 * @param name - name of the entry
 * @returns null when the list is not a block list, such as `agents: [{ … }]`
 */
export function addEntry(text: string, key: "agents" | "workflows", name: string): string | null {
  const document = parseDocument(text, { keepSourceTokens: true });
  if (document.errors.length > 0 || !isMap(document.contents)) return null;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const pair = document.contents.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (pair === undefined) {
    const end = document.contents.range?.[2] ?? text.length;
    return insertLines(text, end, `${eol}${key}:${eol}  - name: ${name}${eol}`, eol);
  }
  const list = pair.value;
  const keyEnd = isScalar(pair.key) ? (pair.key.range?.[1] ?? 0) : 0;
  if (isScalar(list) && list.value === null) {
    return insertLines(text, lineEnd(text, keyEnd), `  - name: ${name}${eol}`, eol);
  }
  if (!isSeq(list) || list.flow === true || list.range == null) {
    if (!isSeq(list) || list.items.length > 0 || list.range == null) return null;
    // `agents: []`
    const [start, end] = list.range;
    const before = text.slice(0, start).replace(/[ \t]+$/, "");
    return `${before}${eol}  - name: ${name}${text.slice(end)}`;
  }
  const column = list.range[0] - (text.lastIndexOf("\n", list.range[0] - 1) + 1);
  const last = list.items.at(-1);
  const end = typeof last === "object" && last !== null && "range" in last ? contentEnd(last.range) : null;
  return insertLines(
    text,
    lineEnd(text, end ?? list.range[1]),
    `${" ".repeat(column)}- name: ${name}${eol}`,
    eol,
  );
}

function contentEnd(range: unknown): number | null {
  return Array.isArray(range) && typeof range[1] === "number" ? range[1] : null;
}

/** Returns the start of the line after a position, or the end of the text. */
function lineEnd(text: string, position: number): number {
  // The range of a block ends after its last line break, where the next line starts.
  if (position > 0 && text[position - 1] === "\n") return position;
  const next = text.indexOf("\n", position);
  return next === -1 ? text.length : next + 1;
}

/** Inserts whole lines, preceded by a line break when the text before them does not end with one. */
function insertLines(text: string, position: number, lines: string, eol: string): string {
  const before = text.slice(0, position);
  const gap = before === "" || before.endsWith("\n") ? "" : eol;
  return before + gap + lines + text.slice(position);
}
