import { stderrColors as colors } from "./colors.ts";
import { writeLine } from "./write.ts";

/**
 * Messages on standard error; standard output holds only the result of a command. consola is used for prompts alone:
 * it drops repeated lines and takes 20 ms to import, about as long as all of `svc --help`.
 */
export const report = {
  line(text = ""): void {
    writeLine(process.stderr, text);
  },
  success(text: string): void {
    writeLine(process.stderr, `${colors.green("✔")} ${text}`);
  },
  hint(text: string): void {
    writeLine(process.stderr, `${colors.cyan("hint:")}  ${text}`);
  },
  warning(text: string): void {
    writeLine(process.stderr, `${colors.yellow("warning:")} ${text}`);
  },
  /** For `--verbose`, and for state changes such as a lost connection. */
  detail(text: string): void {
    writeLine(process.stderr, colors.dim(text));
  },
  error(message: string, details: readonly string[] = [], advice = ""): void {
    const lines = [`${colors.bold(colors.red("error:"))} ${message}`, ...details];
    if (advice !== "") lines.push(`${colors.cyan("hint:")}  ${advice}`);
    writeLine(process.stderr, lines.join("\n"));
  },
};
