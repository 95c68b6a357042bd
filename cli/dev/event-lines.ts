/** Aligned lines: `time  name  state  text`. On a terminal, the text is wrapped and indented to its column. */
import { stdoutColors as colors } from "../terminal/colors.ts";
import { formatTime } from "../terminal/format.ts";
import { print } from "../terminal/output.ts";
import { wrapWords } from "../terminal/wrap.ts";

export type Paint = (text: string) => string;

export const plain: Paint = (text) => text;

const timeWidth = "10:08:05".length;
/** Longer names do not move the columns of other lines. */
const maxNameWidth = 24;
const stateWidth = "succeeded".length;
const gap = 2;
/** Narrower texts are left to the terminal. */
const minTextWidth = 20;

export class EventLines {
  #nameWidth = 0;

  /** Fits the column of names. */
  fit(names: readonly string[]): void {
    this.#nameWidth = Math.min(maxNameWidth, Math.max(0, ...names.map(({ length }) => length)));
  }

  /** Columns before the text. */
  get column(): number {
    return timeWidth + gap + this.#nameWidth + gap + stateWidth + gap;
  }

  /** Columns for the text. */
  get room(): number {
    const { columns, isTTY } = process.stdout;
    return isTTY ? Math.max(minTextWidth, columns - this.column) : Number.POSITIVE_INFINITY;
  }

  /** @param text - without colors */
  print(event: {
    at?: Date;
    name: string;
    state: string;
    paint: Paint;
    text: string;
    paintText?: Paint;
  }): void {
    const { at = new Date(), name, state, paint, text, paintText = plain } = event;
    if (name.length > this.#nameWidth) this.fit([name]);
    const time = colors.dim(formatTime(at).slice(-timeWidth));
    const label = `${paint(state)}${" ".repeat(Math.max(0, stateWidth - state.length))}`;
    const { room } = this;
    // A short line keeps its indentation.
    const lines = text.split("\n").flatMap((line) => (line.length <= room ? [line] : wrapWords(line, room)));
    const body = lines.map(paintText).join(`\n${" ".repeat(this.column)}`);
    print(`${time}  ${colors.cyan(name.padEnd(this.#nameWidth))}  ${label}  ${body}`.trimEnd());
  }

  /** Prints a line below an event, indented to its name, which leaves more room. */
  printBelowName(text: string): void {
    print(`${" ".repeat(timeWidth + gap)}${text}`);
  }

  /** Prints a line below an event, indented to its text. */
  printBelow(text: string): void {
    print(`${" ".repeat(this.column)}${text}`);
  }
}
