/**
 * Patterns of event names. A name is split into *segments* at `.`, `/` and `:`. A pattern is a name in which `*` stands for
 * any one segment, or as the last segment for one or more.
 */
const separator = /[./:]/;
const wildcard = "*";

/** Longer names match no pattern: a sender could send a megabyte. */
export const maxEventNameLength = 256;

/** The rule that a pattern violates, as a clause; null for a valid pattern. */
export function patternProblem(pattern: string): string | null {
  const segments = pattern.split(separator);
  return segments.some((segment) => segment !== wildcard && segment.includes(wildcard))
    ? `"*" must stand for a whole segment between ".", "/" or ":"`
    : null;
}

/** Compiles patterns to a predicate of names. */
export function compilePatterns(patterns: readonly string[]): (name: string) => boolean {
  const compiled = patterns.map((pattern) => pattern.split(separator));
  return (name) => {
    if (name.length > maxEventNameLength) return false;
    const segments = name.split(separator);
    return compiled.some((pattern) => matches(pattern, segments));
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  const last = pattern.length - 1;
  const isOpen = pattern[last] === wildcard;
  if (isOpen ? segments.length < pattern.length : segments.length !== pattern.length) return false;
  return pattern.every((part, index) => part === wildcard || part === segments[index]);
}
