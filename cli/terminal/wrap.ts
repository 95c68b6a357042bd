/** Line breaks at words, on terminals only: pipes and files get each paragraph as one line. */
import { withoutColors } from "./colors.ts";
import { widthOf } from "./width.ts";

type Stream = Pick<NodeJS.WriteStream, "isTTY" | "columns">;

/** Narrower texts are left to the terminal. */
const minWidth = 20;

/** Columns of the terminal of a stream; infinite when it is not one. */
export function columnsOf({ columns, isTTY }: Stream): number {
  return (isTTY && columns) || Number.POSITIVE_INFINITY;
}

/**
 * Breaks a text at spaces into lines of at most `width` columns. Longer words and commands in backticks stay whole, so that
 * they can be copied.
 */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line: string[] = [];
  let used = 0;
  for (const word of wordsOf(text)) {
    const wordWidth = widthOf(withoutColors(word));
    if (line.length > 0 && used + 1 + wordWidth > width) {
      lines.push(line.join(" "));
      line = [];
    }
    used = line.length === 0 ? wordWidth : used + 1 + wordWidth;
    line.push(word);
  }
  return [...lines, line.join(" ")];
}

/** The lines of a text that begins at a column of a terminal. A line that fits keeps its spaces. */
export function linesOf(text: string, column: number, stream: Stream): string[] {
  const width = columnsOf(stream) - column;
  if (width < minWidth) return text.split("\n");
  return text.split("\n").flatMap((line) => (line.length <= width ? [line] : wrapWords(line, width)));
}

/** Wraps each line of a text that begins at a column, and indents the lines that this adds to the same column. */
export function wrap(text: string, column: number, stream: Stream): string {
  const lines = text.split("\n").map((line) => linesOf(line, column, stream));
  return lines.map((parts) => parts.join(`\n${" ".repeat(column)}`)).join("\n");
}

/** Indents a detail of an error and wraps its first line. Further lines, and lines with an indentation, are source code. */
export function detailLines(detail: string, indentation: number, stream: Stream): string {
  const [first = "", ...source] = detail.split("\n");
  const message = first.startsWith(" ") ? first : wrap(first, indentation + 2, stream);
  return [message, ...source].map((line) => " ".repeat(indentation) + line).join("\n");
}

/** The parts between spaces. A command in backticks is one part. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let command: string[] = [];
  for (const word of text.split(" ")) {
    command.push(word);
    const isOpen = command.join("").split("`").length % 2 === 0;
    if (isOpen && command.length < maxCommandWords) continue;
    words.push(...(isOpen ? command : [command.join(" ")]));
    command = [];
  }
  return [...words, ...command];
}

/** A longer text after a backtick is not a command. */
const maxCommandWords = 16;
