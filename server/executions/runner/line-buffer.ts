/** Keeps the piece of a line that has not ended yet, for each level. */

/** A line that is longer is given out in pieces: whoever writes without end must not fill the memory. */
const maxLength = 64 * 1024;

export type Level = "info" | "warn";

export class LineBuffer {
  readonly #onLine: (level: Level, line: string) => void;
  readonly #rest = new Map<Level, string>();

  constructor(onLine: (level: Level, line: string) => void) {
    this.#onLine = onLine;
  }

  add(level: Level, text: string): void {
    const lines = ((this.#rest.get(level) ?? "") + text).split("\n");
    const rest = lines.pop() ?? "";
    for (const line of lines) this.#onLine(level, line);
    if (rest.length > maxLength) {
      this.#rest.delete(level);
      this.#onLine(level, rest);
    } else this.#rest.set(level, rest);
  }

  /** Gives out the pieces, for nothing will end their lines. */
  flush(): void {
    for (const [level, rest] of this.#rest) if (rest !== "") this.#onLine(level, rest);
    this.#rest.clear();
  }
}
