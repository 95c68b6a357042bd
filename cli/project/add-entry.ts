import { isMap, isScalar, isSeq, parseDocument } from "yaml";
import { columnOf, contentEnd, insertLines, lineBreakOf, lineEnd } from "./insert-lines.ts";

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
  const eol = lineBreakOf(text);
  const pair = document.contents.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (pair === undefined) {
    const end = document.contents.range?.[2] ?? text.length;
    return insertLines(text, end, `${eol}${key}:${eol}  - name: ${name}${eol}`);
  }
  const list = pair.value;
  const keyEnd = isScalar(pair.key) ? (pair.key.range?.[1] ?? 0) : 0;
  if (isScalar(list) && list.value === null) {
    return insertLines(text, lineEnd(text, keyEnd), `  - name: ${name}${eol}`);
  }
  if (!isSeq(list) || list.flow === true || list.range == null) {
    if (!isSeq(list) || list.items.length > 0 || list.range == null) return null;
    // `agents: []`
    const [start, end] = list.range;
    const before = text.slice(0, start).replace(/[ \t]+$/, "");
    return `${before}${eol}  - name: ${name}${text.slice(end)}`;
  }
  const end = contentEnd(list.items.at(-1)) ?? list.range[1];
  const indent = " ".repeat(columnOf(text, list.range[0]));
  return insertLines(text, lineEnd(text, end), `${indent}- name: ${name}${eol}`);
}
