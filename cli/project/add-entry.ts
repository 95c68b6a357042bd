import { isMap, isScalar, isSeq, parseDocument } from "yaml";

/**
 * Adds an entry to a list of a project file and leaves every other character as it is: comments, order, quotes, blank
 * lines. Writing the parsed document anew would lose some of them.
 *
 * @param key - of the list at the top: `agents` or `workflows`
 * @param name - of the entry
 * @returns null when the list is written in a way that cannot be added to by a line, such as `agents: [{ … }]`
 */
export function addEntry(text: string, key: "agents" | "workflows", name: string): string | null {
  const document = parseDocument(text, { keepSourceTokens: true });
  if (document.errors.length > 0 || !isMap(document.contents)) return null;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const pair = document.contents.items.find((item) => isScalar(item.key) && item.key.value === key);
  if (pair === undefined) {
    const end = document.contents.range?.[2] ?? text.length;
    return splice(text, end, `${eol}${key}:${eol}  - name: ${name}${eol}`, eol);
  }
  const list = pair.value;
  const keyEnd = isScalar(pair.key) ? (pair.key.range?.[1] ?? 0) : 0;
  if (isScalar(list) && list.value === null) {
    return splice(text, lineEnd(text, keyEnd), `  - name: ${name}${eol}`, eol);
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
  return splice(text, lineEnd(text, end ?? list.range[1]), `${" ".repeat(column)}- name: ${name}${eol}`, eol);
}

function contentEnd(range: unknown): number | null {
  return Array.isArray(range) && typeof range[1] === "number" ? range[1] : null;
}

/** The start of the line after a position; the end of the text when there is none. */
function lineEnd(text: string, position: number): number {
  // A block ends behind its last line break; then the next line begins right there.
  if (position > 0 && text[position - 1] === "\n") return position;
  const next = text.indexOf("\n", position);
  return next === -1 ? text.length : next + 1;
}

/** Puts whole lines in, and a line break before them when the text before has none at its end. */
function splice(text: string, position: number, lines: string, eol: string): string {
  const before = text.slice(0, position);
  const gap = before === "" || before.endsWith("\n") ? "" : eol;
  return before + gap + lines + text.slice(position);
}
