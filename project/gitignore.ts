/**
 * Patterns of `.gitignore` files as git reads them (gitignore(5)), on bytes: a `?` matches one byte, so names must be
 * given as {@link bytesOf} writes them.
 *
 * Glossary: a *basename pattern* has no slash but a last one, and is held against the last segment; every other is held
 * against the path from the folder of its file. A *literal prefix* is what stands before the first wildcard.
 */
import { compileGlob, hasWildcard, literalPrefixLength } from "./gitignore/glob.ts";

export interface IgnorePattern {
  /** Whether it begins with `!` and so takes back what an earlier pattern ignored. */
  readonly negated: boolean;
  /** `path` is relative to the folder of the pattern's file; `name` is its last segment. */
  matches(path: string, name: string, isFolder: boolean): boolean;
}

/** A text as its UTF-8 bytes, each as one character of code 0 to 255. */
export function bytesOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what both forms have in common
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** Reads the content of a `.gitignore` file. Lines that can match nothing are left out. */
export function parseIgnoreFile(content: Uint8Array): IgnorePattern[] {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("latin1");
  const patterns: IgnorePattern[] = [];
  // A byte order mark, as the three characters that its bytes are.
  for (const line of text.replace(/^\xef\xbb\xbf/, "").split("\n")) {
    const pattern = parseLine(line);
    if (pattern !== null) patterns.push(pattern);
  }
  return patterns;
}

/** The last pattern that matches decides; undefined when none does. */
export function decide(
  patterns: readonly IgnorePattern[],
  path: string,
  name: string,
  isFolder: boolean,
): "ignored" | "kept" | undefined {
  for (let index = patterns.length - 1; index >= 0; index--) {
    const pattern = patterns[index];
    if (pattern?.matches(path, name, isFolder)) return pattern.negated ? "kept" : "ignored";
  }
  return undefined;
}

function parseLine(line: string): IgnorePattern | null {
  if (line.startsWith("#")) return null;
  const end = line.indexOf("\0");
  let glob = trimSpaces(end < 0 ? line.replace(/\r$/, "") : line.slice(0, end));
  const negated = glob.startsWith("!");
  if (negated) glob = glob.slice(1);
  const folderOnly = glob.endsWith("/");
  if (folderOnly) glob = glob.slice(0, -1);
  if (glob === "") return null;
  const matchesPath = glob.includes("/") ? pathMatcher(glob) : null;
  const matchesName = matchesPath === null ? nameMatcher(glob) : null;
  return {
    negated,
    matches(path, name, isFolder) {
      if (folderOnly && !isFolder) return false;
      return matchesPath === null ? matchesName?.(name) === true : matchesPath(path);
    },
  };
}

/** Spaces at the end do not count, unless the last of them that counts stands after a backslash. Tabs do count. */
function trimSpaces(line: string): string {
  let end = 0;
  for (let index = 0; index < line.length; index++) {
    const escaped = line[index] === "\\";
    if (escaped) index++;
    if (escaped || line[index] !== " ") end = index + 1;
  }
  return line.slice(0, end);
}

function nameMatcher(glob: string): (name: string) => boolean {
  if (!hasWildcard(glob)) return (name) => name === glob;
  const rest = glob.slice(1);
  if (glob.startsWith("*") && !hasWildcard(rest)) return (name) => name.endsWith(rest);
  const expression = compileGlob(glob, "name");
  return (name) => expression.test(name);
}

function pathMatcher(glob: string): (path: string) => boolean {
  const anchored = glob.startsWith("/") ? glob.slice(1) : glob;
  const prefixLength = literalPrefixLength(anchored);
  const prefix = anchored.slice(0, prefixLength);
  if (prefixLength === anchored.length) return (path) => path === prefix;
  // git strips the prefix before it reads the wildcards, so that in `a/b**` the stars stand at the beginning.
  const expression = compileGlob(anchored.slice(prefixLength), "path");
  return (path) => path.startsWith(prefix) && expression.test(path.slice(prefixLength));
}
