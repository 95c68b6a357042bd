/** The name of an object's member, or the index of an array's element. */
export type PathStep = string | number;

/**
 * Splits the path of a field mapping: `name(.name | [index])*`. A name is any run of characters but `.`, `[` and `]`;
 * an index is decimal without leading zeros.
 *
 * @throws Error with the reason and the position, counted from 1
 */
export function parsePath(path: string): PathStep[] {
  const steps: PathStep[] = [];
  let position = 0;
  for (;;) {
    if (path[position] === "[") {
      if (position === 0) throw syntaxError(path, position, "a path begins with a name");
      const end = path.indexOf("]", position);
      if (end < 0) throw syntaxError(path, position, '"[" is never closed');
      const index = path.slice(position + 1, end);
      if (!/^(0|[1-9][0-9]*)$/.test(index)) {
        throw syntaxError(
          path,
          position + 1,
          `an index is a whole number without leading zeros, not "${index}"`,
        );
      }
      steps.push(Number(index));
      position = end + 1;
    } else {
      const end = nameEnd(path, position);
      if (end === position) throw syntaxError(path, position, "a name is missing");
      steps.push(path.slice(position, end));
      position = end;
    }
    const next = path[position];
    if (next === undefined) return steps;
    if (next === ".") position++;
    else if (next !== "[") throw syntaxError(path, position, `expected "." or "[", not "${next}"`);
    if (next === "." && path[position] === "[") throw syntaxError(path, position, "a name is missing");
  }
}

function nameEnd(path: string, start: number): number {
  let end = start;
  while (end < path.length && path[end] !== "." && path[end] !== "[" && path[end] !== "]") end++;
  return end;
}

function syntaxError(path: string, position: number, reason: string): Error {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  return new Error(`Cannot read the path "${shown}" at character ${position + 1}: ${reason}.`);
}
