import { maxProblems, type Problem } from "../problem.ts";

/** Collects problems by position. Builds only the problems that are returned, because a file may have very many. */
export class Report {
  readonly #found: { offset: number; message: string }[] = [];

  add(offset: number, message: string): void {
    this.#found.push({ offset, message });
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  /** Whether further problems will not be shown, so that their messages can be short. */
  get isFull(): boolean {
    return this.#found.length >= maxProblems;
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
