import { maxProblems, type Problem } from "../problem.ts";

/** Collects problems by position. Only those that will be shown are written out: a file may have very many. */
export class Report {
  readonly #found: { offset: number; message: string }[] = [];

  add(offset: number, message: string): void {
    this.#found.push({ offset, message });
  }

  get empty(): boolean {
    return this.#found.length === 0;
  }

  /** Whether enough problems are known, so that no effort need go into further messages. */
  get full(): boolean {
    return this.#found.length >= maxProblems;
  }

  /** The first {@link maxProblems} in the order of the file; the last of them tells how many there are beyond. */
  problems(locate: (offset: number, message: string) => Problem): Problem[] {
    const hidden = this.#found.length - maxProblems;
    const shown = this.#found.toSorted((a, b) => a.offset - b.offset).slice(0, maxProblems);
    return shown.map(({ offset, message }, index) => {
      const more = hidden > 0 && index === maxProblems - 1 ? ` (${hidden} more problems are not shown)` : "";
      return locate(offset, message + more);
    });
  }
}
