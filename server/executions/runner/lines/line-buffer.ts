/** Splits text into lines, and buffers the incomplete line of each level. */

/** A longer line is split, so that output without line breaks does not fill the memory. */
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

  /** Emits the incomplete lines. */
  flush(): void {
    for (const [level, rest] of this.#rest) if (rest !== "") this.#onLine(level, rest);
    this.#rest.clear();
  }
}
