import type { WriteStream } from "node:tty";

type Paint = (text: string) => string;

/** Colors for one output stream. Each returns its text unchanged where the stream shows no colors. */
export interface Colors {
  bold: Paint;
  dim: Paint;
  red: Paint;
  green: Paint;
  yellow: Paint;
  cyan: Paint;
}

export const stdoutColors: Colors = colorsOf(process.stdout);
export const stderrColors: Colors = colorsOf(process.stderr);

// `util.styleText` checks the stream differently on the three runtimes.
function colorsOf(stream: Pick<WriteStream, "isTTY">): Colors {
  const isEnabled = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  const paint = (open: number, close: number): Paint =>
    isEnabled ? (text) => `\u001b[${open}m${text}\u001b[${close}m` : (text) => text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}
