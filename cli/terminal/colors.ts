import type { WriteStream } from "node:tty";

type Paint = (text: string) => string;

/** Colours for one output stream; each returns its text unchanged where the stream shows no colours. */
export interface Style {
  bold: Paint;
  dim: Paint;
  red: Paint;
  green: Paint;
  yellow: Paint;
  cyan: Paint;
}

/** For standard output. */
export const out: Style = styleOf(process.stdout);

/** For standard error. */
export const err: Style = styleOf(process.stderr);

// `util.styleText` would do, but its check of the stream differs between the three runtimes.
function styleOf(stream: Pick<WriteStream, "isTTY">): Style {
  const coloured = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  const paint = (open: number, close: number): Paint =>
    coloured ? (text) => `\u001b[${open}m${text}\u001b[${close}m` : (text) => text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}
