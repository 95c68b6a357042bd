/** Finds the prose of the repository: documents, comments, messages, help texts and test titles. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { root } from "../support/runtimes.ts";

export interface Passage {
  /** Path from the root, with `/`. */
  file: string;
  /** Line of the first character of `text`. */
  line: number;
  /** May span lines. */
  text: string;
}

export function filesUnder(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(({ parentPath }) => !/[\\/]node_modules(?:[\\/]|$)/.test(parentPath.slice(root.length)))
    .filter((entry) => entry.isFile() && pattern.test(entry.name) && !/_pb\.ts$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted();
}

/** A Markdown document without its code blocks. */
export function documentProse(file: string): Passage[] {
  const text = read(file).replaceAll(/^```.*?^```$/gms, (block) => block.replaceAll(/[^\n]/g, ""));
  return [{ file, line: 1, text }];
}

/** The comments of a proto file. */
export function protoProse(file: string): Passage[] {
  const text = read(file).replaceAll(
    /^(?:\s*\/\/ ?(.*)|.*)$/gm,
    (_, comment: string | undefined) => comment ?? "",
  );
  return [{ file, line: 1, text }];
}

/** The comments and the string literals of a source file. */
export function sourceProse(file: string): Passage[] {
  return tokens(read(file)).map(({ text, line }) => ({ file, line, text }));
}

/** The comments and the test titles of a test file. */
export function testProse(file: string): Passage[] {
  const isTitle = /(?:\b(?:test|describe|scenario|onEveryRuntime)(?:\.\w+)*|[\])}`])\($/;
  return tokens(read(file))
    .filter(({ kind, before }) => kind === "comment" || isTitle.test(before.replaceAll(/\s+/g, "")))
    .map(({ text, line }) => ({ file, line, text }));
}

interface Token {
  kind: "comment" | "literal";
  line: number;
  /** Without comment signs; `…` stands for each expression of a template. */
  text: string;
  /** The code before it, at most 60 characters. */
  before: string;
}

const pattern =
  /\/\*.*?\*\/|(?:\/\/[^\n]*\n?[ \t]*)+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`|(?<=[=(,:[!&|?{};]\s*|return )\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*|[{}]/gs;

/** The comments and literals of a source that Biome has formatted. */
function tokens(source: string): Token[] {
  const found: Token[] = [];
  /** For each open template, the braces open in its current expression. */
  const templates: number[] = [];
  const add = (kind: Token["kind"], start: number, text: string) => {
    const line = source.slice(0, start).split("\n").length;
    found.push({ kind, line, text, before: source.slice(Math.max(0, start - 60), start) });
  };
  let at = 0;
  const template = (start: number, from: number) => {
    const end = /(?<!\\)(?:\\\\)*(?:`|\$\{)/g;
    end.lastIndex = from;
    const match = end.exec(source);
    at = match === null ? source.length : end.lastIndex;
    const isExpression = match?.[0].endsWith("{") ?? false;
    add("literal", start, source.slice(from, at - (isExpression ? 2 : 1)) + (isExpression ? "…" : ""));
    if (isExpression) templates.push(0);
  };
  for (;;) {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match === null) return found;
    const [token] = match;
    at = pattern.lastIndex;
    const depth = templates.at(-1);
    if (token === "{" || token === "}") {
      if (depth === undefined) continue;
      if (token === "}" && depth === 0) {
        templates.pop();
        template(match.index, at);
      } else templates[templates.length - 1] = depth + (token === "{" ? 1 : -1);
    } else if (token === "`") template(match.index, at);
    else if (token.startsWith("/*"))
      add("comment", match.index, token.replaceAll(/^\/\*\*?|\*\/$|(?<=\n)\s*\* ?/g, ""));
    else if (token.startsWith("//"))
      add("comment", match.index, token.replaceAll(/(?<=^|\n)[ \t]*\/\/ ?/g, ""));
    else if (!token.startsWith("/")) add("literal", match.index, token.slice(1, -1));
  }
}

export function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
