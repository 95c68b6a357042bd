import { stderrColors as colors } from "./colors.ts";
import { detailLines, wrap } from "./wrap.ts";
import { writeLine } from "./write.ts";

/**
 * Messages on standard error; standard output holds only the result of a command. consola is used for prompts alone:
 * it drops repeated lines and takes 20 ms to import, about as long as all of `svc --help`.
 */
export const report = {
  line(text = ""): void {
    writeLine(process.stderr, text);
  },
  /** A line that a terminal breaks at words. @param column - columns before the lines that this adds */
  wrapped(text: string, column = 0): void {
    writeLine(process.stderr, wrap(text, column, process.stderr));
  },
  success(text: string): void {
    writeLine(process.stderr, labelled("✔", colors.green, text));
  },
  hint(text: string): void {
    writeLine(process.stderr, hintLine(text));
  },
  warning(text: string): void {
    writeLine(process.stderr, labelled("warning:", colors.yellow, text));
  },
  /** For `--verbose`, and for state changes such as a lost connection. */
  detail(text: string): void {
    writeLine(process.stderr, colors.dim(text));
  },
  error(message: string, details: readonly string[] = [], advice = ""): void {
    const lines = [labelled("error:", (label) => colors.bold(colors.red(label)), message)];
    lines.push(...details.map((detail) => detailLines(detail, 0, process.stderr)));
    if (advice !== "") lines.push(hintLine(advice));
    writeLine(process.stderr, lines.join("\n"));
  },
};

function hintLine(text: string): string {
  return labelled("hint: ", colors.cyan, text);
}

/** Lines that a terminal breaks are indented to the text. */
function labelled(label: string, paint: (text: string) => string, text: string): string {
  return `${paint(label)} ${wrap(text, label.length + 1, process.stderr)}`;
}
