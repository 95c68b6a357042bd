/**
 * The candidate that a mistyped word most likely means, for "did you mean". Undefined when none is near: at most one
 * mistake per three characters, a mistake being a character too many, missing or wrong, or two swapped
 * (Damerau-Levenshtein). Case, `-` and `_` do not count.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = plain(word);
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const offered = plain(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, offered.length) / 3));
    if (Math.abs(wanted.length - offered.length) > allowed) continue;
    const distance = editDistance(wanted, offered);
    // At a distance of its whole length a word has nothing in common with the other one.
    if (
      distance <= allowed &&
      distance < Math.min(offered.length, wanted.length) &&
      distance < bestDistance
    ) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean "…"?)`, or nothing: to be appended to a message. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = suggest(word, candidates);
  return found === undefined ? "" : ` (did you mean "${found}"?)`;
}

function plain(word: string): string {
  // Longer than any candidate can be: the rest would only cost time.
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
