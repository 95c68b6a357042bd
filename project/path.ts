/** A member's name, or the index of an array's element. */
export type PathStep = string | number;

/**
 * Splits the path of a field mapping: `name(.name | [index])*`. A name is any run of characters but `.`, `[` and `]`;
 * an index is decimal without leading zeros.
 *
 * @throws Error that says what is wrong and at which character, counted from 1
 */
export function parsePath(path: string): PathStep[] {
  const steps: PathStep[] = [];
  let position = 0;
  for (;;) {
    if (path[position] === "[") {
      if (position === 0) throw bad(path, position, "a path begins with a name");
      const end = path.indexOf("]", position);
      if (end < 0) throw bad(path, position, '"[" is never closed');
      const index = path.slice(position + 1, end);
      if (!/^(0|[1-9][0-9]*)$/.test(index)) {
        throw bad(path, position + 1, `an index is a whole number without leading zeros, not "${index}"`);
      }
      steps.push(Number(index));
      position = end + 1;
    } else {
      const end = nameEnd(path, position);
      if (end === position) throw bad(path, position, "a name is missing");
      steps.push(path.slice(position, end));
      position = end;
    }
    const next = path[position];
    if (next === undefined) return steps;
    if (next === ".") position++;
    else if (next !== "[") throw bad(path, position, `"." or "[" must come here, not "${next}"`);
    if (next === "." && path[position] === "[") throw bad(path, position, "a name is missing");
  }
}

function nameEnd(path: string, start: number): number {
  let end = start;
  while (end < path.length && path[end] !== "." && path[end] !== "[" && path[end] !== "]") end++;
  return end;
}

function bad(path: string, position: number, why: string): Error {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  return new Error(`Cannot read the path "${shown}" at character ${position + 1}: ${why}.`);
}
