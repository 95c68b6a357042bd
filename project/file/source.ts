/** Reads a project file into values (by confbox) and positions (by yaml), or reports its syntax errors. */
import { parseYAML } from "confbox/yaml";
import { type Document, isAlias, Lexer, type Node, parseDocument } from "yaml";
import { maxProjectFileBytes } from "../limits.ts";
import { type Problem, printable } from "../problem.ts";
import { Report } from "./report.ts";
import { checkTree, maxDepth } from "./tree.ts";

/**
 * The largest number of tokens: values, punctuation, white space, comments and line ends. 50,000 are about 5,000 lines,
 * which take a quarter of a second to parse. Bytes alone do not limit the time: 200,000 empty lines took twice as long.
 */
export const maxTokens = 50_000;

/** A file that confbox rejects is parsed by yaml only up to this size, because each syntax error costs 40 tokens' time. */
const maxBrokenTokens = 10_000;

export interface Source {
  /** The content, as read by confbox. */
  value: unknown;
  /** The syntax tree, as read by yaml; null for an empty file. */
  root: Node | null;
  /** The target of an alias. Returns other nodes unchanged. */
  resolve(node: Node | null): Node | null;
  /** Makes a problem at an offset in UTF-16 code units. */
  problem(offset: number, message: string): Problem;
}

export function readSource(bytes: Uint8Array): { source: Source } | { problems: Problem[] } {
  if (bytes.byteLength > maxProjectFileBytes) {
    return { problems: [atStart(sizeProblem(bytes.byteLength))] };
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { problems: [notUtf8(bytes)] };
  }
  // The lexer builds no values and takes linear time, so that it can reject a file before either parser runs.
  const tokens = countTokens(text);
  if (tokens > maxTokens) {
    return {
      problems: [atStart(`a project file may hold at most ${maxTokens} tokens, which is about 5000 lines`)],
    };
  }
  const read = readValue(text);
  // Deeply nested files stop here, because yaml has no depth limit.
  if ("failure" in read && (read.isTooDeep || tokens > maxBrokenTokens)) return { problems: [read.failure] };
  return readTree(text, read);
}

function readTree(text: string, read: Read): { source: Source } | { problems: Problem[] } {
  const problem = (offset: number, message: string): Problem => problemIn(text, offset, message);
  let document: Document.Parsed;
  try {
    // `checkTree` checks for unique keys in linear time; the parser would compare every pair of keys.
    document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { problems: [atStart(`nested deeper than ${maxDepth} levels`)] };
  }
  const report = new Report();
  for (const { pos, message } of [...document.errors, ...document.warnings]) {
    report.add(pos[0], sentence(message));
  }
  const targets = report.isEmpty ? checkTree(document.contents, report) : new Map<Node, Node>();
  if (!report.isEmpty) return { problems: report.problems(problem) };
  const root = document.contents;
  // For a file without a value, confbox throws and yaml returns an empty document.
  if ("failure" in read && root !== null) return { problems: [read.failure] };
  const value = "failure" in read ? null : read.value;
  const resolve = (node: Node | null): Node | null => (isAlias(node) ? (targets.get(node) ?? null) : node);
  return { source: { value, root, resolve, problem } };
}

type Read = { value: unknown } | { failure: Problem; isTooDeep: boolean };

function readValue(text: string): Read {
  try {
    // `json` accepts repeated keys, which `checkTree` reports together with all other problems.
    return { value: parseYAML(text, { maxDepth, json: true }) };
  } catch (error) {
    const { reason, message, mark } = error as {
      reason?: string;
      message: string;
      mark?: { position?: number };
    };
    const cause = reason ?? message;
    const isTooDeep = error instanceof RangeError || /maxDepth/.test(cause);
    const description = isTooDeep ? `nested deeper than ${maxDepth} levels` : sentence(cause);
    const failure = problemIn(text, Math.min(mark?.position ?? 0, text.length), description);
    return { failure, isTooDeep };
  }
}

/** Counting stops above the maximum. */
function countTokens(text: string): number {
  let count = 0;
  for (const _ of new Lexer().lex(text)) if (++count > maxTokens) break;
  return count;
}

/** The message for a file over the limit. */
export function sizeProblem(bytes: number): string {
  return `a project file may hold at most ${maxProjectFileBytes} bytes, this one has ${bytes}`;
}

/** A problem of the whole text. */
function atStart(message: string): Problem {
  return { line: 1, column: 1, message, source: "" };
}

/** Counts lines in the text, because yaml's line counter covers only the part that it has parsed. */
function problemIn(text: string, offset: number, message: string): Problem {
  const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < start; at = text.indexOf("\n", at + 1)) line++;
  const end = text.indexOf("\n", start);
  const source = text.slice(start, end < 0 ? text.length : end).replace(/\r$/, "");
  const column = Math.min(offset - start, source.length) + 1;
  return { line, column, message: printable(message), source };
}

/** A problem at the first line with an invalid byte. */
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

/** Adapts a library's message to the style of problems: lower case at the start and no full stop. */
function sentence(message: string): string {
  const text = message.split("\n", 1)[0] ?? "";
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}
