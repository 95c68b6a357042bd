/**
 * The candidate closest to a mistyped word, for "did you mean". Undefined when none is close: at most one edit per three
 * characters, where an edit inserts, deletes or replaces a character or swaps two (Damerau-Levenshtein). Ignores case,
 * `-` and `_`.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const typed = normalized(word);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const name = normalized(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(typed.length, name.length) / 3));
    if (Math.abs(typed.length - name.length) > allowed) continue;
    const distance = editDistance(typed, name);
    // At a distance of their whole length two words have no character in common.
    if (distance <= allowed && distance < Math.min(name.length, typed.length) && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean "…"?)` to append to a message, or an empty string. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = suggest(word, candidates);
  return found === undefined ? "" : ` (did you mean "${found}"?)`;
}

function normalized(word: string): string {
  // No candidate is longer, and more characters would only take time.
  return word.slice(0, 100).toLowerCase().replace(/[-_]/g, "");
}

/** Optimal string alignment distance, with three rows. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + changed,
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      }
      current.push(distance);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
