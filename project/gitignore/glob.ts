import { compileSet } from "./set.ts";

/** How many characters stand before the first of `*`, `?`, `[` and `\`. */
export function literalPrefixLength(glob: string): number {
  const first = glob.search(/[*?[\\]/);
  return first < 0 ? glob.length : first;
}

export function hasWildcard(glob: string): boolean {
  return literalPrefixLength(glob) < glob.length;
}

/** Matches nothing. */
const never = /(?!)/;

/**
 * The regular expression of a glob in git's dialect. In a `path`, wildcards do not match `/`, except for `**` as a whole
 * segment; in a `name` there is no `/`, and `**` is `*`. An unfinished set or a lone backslash at the end match nothing.
 */
export function compileGlob(glob: string, kind: "name" | "path"): RegExp {
  const any = kind === "path" ? "[^/]" : "[^]";
  let source = "";
  for (let index = 0; index < glob.length; ) {
    const character = glob[index];
    if (character === "*") {
      const stars = readStars(glob, index, kind);
      source += stars.source;
      index = stars.end;
    } else if (character === "?") {
      source += any;
      index++;
    } else if (character === "[") {
      const set = compileSet(glob, index, kind === "path");
      if (set === null) return never;
      source += set.source;
      index = set.end;
    } else {
      if (character === "\\") index++;
      const literal = glob[index];
      if (literal === undefined) return never;
      source += escaped(literal);
      index++;
    }
  }
  return new RegExp(`^${source}$`);
}

function readStars(glob: string, start: number, kind: "name" | "path"): { source: string; end: number } {
  let end = start;
  while (glob[end] === "*") end++;
  if (kind === "name") return { source: "[^]*", end };
  const opens = start === 0 || glob[start - 1] === "/";
  const closes = end === glob.length || glob[end] === "/" || glob.startsWith("\\/", end);
  if (end - start < 2 || !opens || !closes) return { source: "[^/]*", end };
  // `**/` also matches no folder at all, its slash included.
  if (glob[end] === "/") return { source: "(?:[^]*/)?", end: end + 1 };
  return { source: "[^]*", end };
}

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
}
