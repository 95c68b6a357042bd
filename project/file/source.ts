/** Reads the bytes of a project file into values (confbox) and positions (yaml), or into the problems of its syntax. */
import { parseYAML } from "confbox/yaml";
import { type Document, isAlias, type Node, parseDocument } from "yaml";
import { maxProjectFileBytes } from "../limits.ts";
import type { Problem } from "../problem.ts";
import { Report } from "./report.ts";
import { checkTree, countValues, maxDepth, maxValues } from "./tree.ts";

/** Beyond this size a file that confbox refuses is not read again for more mistakes: yaml takes quadratic time there. */
const maxBrokenLength = 32 * 1024;

export interface Source {
  /** What the file says, as confbox reads it. */
  value: unknown;
  /** The same as a tree with positions; null for an empty file. */
  root: Node | null;
  /** The node that an alias stands for; other nodes stand for themselves. */
  resolve(node: Node | null): Node | null;
  /** A problem at an offset in UTF-16 code units. */
  problem(offset: number, message: string): Problem;
}

export function readSource(bytes: Uint8Array): { source: Source } | { problems: Problem[] } {
  if (bytes.byteLength > maxProjectFileBytes) {
    const rule = `a project file may hold at most ${maxProjectFileBytes} bytes`;
    return { problems: [atStart(`${rule}, this one has ${bytes.byteLength}`)] };
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { problems: [notUtf8(bytes)] };
  }
  const read = readValue(text);
  // Deep nesting ends here: yaml has no limit of its own.
  if ("failure" in read && (read.deep || text.length > maxBrokenLength)) return { problems: [read.failure] };
  if ("value" in read && countValues(read.value) > maxValues) {
    return { problems: [atStart(`a project file may hold at most ${maxValues} values`)] };
  }
  return readTree(text, read);
}

function readTree(text: string, read: Read): { source: Source } | { problems: Problem[] } {
  const problem = (offset: number, message: string): Problem => problemIn(text, offset, message);
  let document: Document.Parsed;
  try {
    // Unique keys are checked by `checkTree`, once per key: the reader would compare each key with all others.
    document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problems: [atStart(`nested deeper than ${maxDepth} levels`)] };
  }
  const report = new Report();
  for (const { pos, message } of [...document.errors, ...document.warnings]) {
    report.add(pos[0], sentence(message));
  }
  const targets = report.empty ? checkTree(document.contents, report) : new Map<Node, Node>();
  if (!report.empty) return { problems: report.problems(problem) };
  const root = document.contents;
  // Of a file without any value, confbox makes an error and yaml an empty document.
  if ("failure" in read && root !== null) return { problems: [read.failure] };
  const value = "failure" in read ? null : read.value;
  const resolve = (node: Node | null): Node | null => (isAlias(node) ? (targets.get(node) ?? null) : node);
  return { source: { value, root, resolve, problem } };
}

type Read = { value: unknown } | { failure: Problem; deep: boolean };

function readValue(text: string): Read {
  try {
    // `json` lets repeated keys pass, to be reported together with every other problem.
    return { value: parseYAML(text, { maxDepth, json: true }) };
  } catch (error) {
    const { reason, message, mark } = error as {
      reason?: string;
      message: string;
      mark?: { position?: number };
    };
    const what = reason ?? message;
    const deep = error instanceof RangeError || /maxDepth/.test(what);
    const shown = deep ? `nested deeper than ${maxDepth} levels` : sentence(what);
    return { failure: problemIn(text, Math.min(mark?.position ?? 0, text.length), shown), deep };
  }
}

function atStart(message: string): Problem {
  return { line: 1, column: 1, message, source: "" };
}

/** The reader's own line counter knows only lines that it has come to; a problem may stand behind them. */
function problemIn(text: string, offset: number, message: string): Problem {
  const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < start; at = text.indexOf("\n", at + 1)) line++;
  const end = text.indexOf("\n", start);
  const source = text.slice(start, end < 0 ? text.length : end).replace(/\r$/, "");
  return { line, column: Math.min(offset - start, source.length) + 1, message, source };
}

/** The first line that holds a byte which decoding must replace. */
function notUtf8(bytes: Uint8Array): Problem {
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const next = bytes.indexOf(10, start);
    const end = next < 0 ? bytes.length : next + 1;
    const source = new TextDecoder().decode(bytes.subarray(start, end)).trimEnd();
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(start, end));
    } catch {
      return { line, column: source.indexOf("\ufffd") + 1, message: "not UTF-8 text", source };
    }
    start = end;
  }
  return atStart("not UTF-8 text");
}

/** Foreign messages begin with a capital and end with a full stop; these do neither. */
function sentence(message: string): string {
  const text = message.split("\n", 1)[0] ?? "";
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}
