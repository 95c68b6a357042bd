import { maxProblems, type Problem } from "../problem.ts";
import { didYouMean } from "../suggest.ts";

/** Comparisons of words for one file. A comparison of two names of 64 characters takes up to 50 µs. */
const maxComparisons = 5_000;

/** Collects problems by position. Builds only the problems that are returned, because a file may have very many. */
export class Report {
  readonly #found: { offset: number; message: string }[] = [];
  #comparisonsLeft = maxComparisons;

  add(offset: number, message: string): void {
    this.#found.push({ offset, message });
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  /** ` (did you mean "…"?)` or an empty string, also when this file has used up its comparisons. */
  didYouMean(word: string, candidates: readonly string[]): string {
    return this.reserveComparisons(candidates.length) ? didYouMean(word, candidates) : "";
  }

  /** Whether the file may use this number of comparisons. */
  reserveComparisons(count: number): boolean {
    if (this.#found.length >= maxProblems || count > this.#comparisonsLeft) return false;
    this.#comparisonsLeft -= count;
    return true;
  }

  /** The first {@link maxProblems} in the order of the file. The last one gives the number of the remaining ones. */
  problems(locate: (offset: number, message: string) => Problem): Problem[] {
    const hidden = this.#found.length - maxProblems;
    const shown = this.#found.toSorted((a, b) => a.offset - b.offset).slice(0, maxProblems);
    return shown.map(({ offset, message }, index) => {
      const more = hidden > 0 && index === maxProblems - 1 ? ` (${hidden} more problems are not shown)` : "";
      return locate(offset, message + more);
    });
  }
}
