import type { WriteStream } from "node:tty";

type Paint = (text: string) => string;

/**
 * Colors for one output stream. Each returns its text unchanged where the stream shows no colors. The result contains
 * marks that only {@link renderColors} turns into the terminal's colors, so that no other text can set a color.
 */
export interface Colors {
  bold: Paint;
  dim: Paint;
  red: Paint;
  green: Paint;
  yellow: Paint;
  cyan: Paint;
}

/** Begins each mark: a prefix of an escape sequence that other text cannot know. */
const mark = `\u001b[${fourDigits()};${fourDigits()};${fourDigits()};`;

export const stdoutColors: Colors = colorsOf(process.stdout);
export const stderrColors: Colors = colorsOf(process.stderr);

/** Applies `clean` to the text between marks, and replaces the marks. */
export function renderColors(text: string, clean: (text: string) => string): string {
  if (!text.includes(mark)) return clean(text);
  const [first = "", ...rest] = text.split(mark);
  const parts = rest.map((part) => {
    const [code = ""] = /^\d+m/.exec(part) ?? [];
    return `${code === "" ? "" : `\u001b[${code}`}${clean(part.slice(code.length))}`;
  });
  return clean(first) + parts.join("");
}

/** Removes the marks, to measure a text. */
export function withoutColors(text: string): string {
  return text
    .split(mark)
    .map((part, index) => (index === 0 ? part : part.replace(/^\d+m/, "")))
    .join("");
}

// `util.styleText` checks the stream differently on the three runtimes.
function colorsOf(stream: Pick<WriteStream, "isTTY">): Colors {
  const isEnabled = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  const paint = (open: number, close: number): Paint =>
    isEnabled ? (text) => `${mark}${open}m${text}${mark}${close}m` : (text) => text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

function fourDigits(): number {
  return 1000 + Math.floor(Math.random() * 9000);
}
