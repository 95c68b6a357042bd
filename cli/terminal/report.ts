import { stderrColors as colors } from "./colors.ts";

/**
 * Messages on standard error; standard output holds only the result of a command. consola is used for prompts alone:
 * it drops repeated lines and takes 20 ms to import, about as long as all of `svc --help`.
 */
export const report = {
  line(text = ""): void {
    process.stderr.write(`${text}\n`);
  },
  success(text: string): void {
    process.stderr.write(`${colors.green("✔")} ${text}\n`);
  },
  hint(text: string): void {
    process.stderr.write(`${colors.cyan("hint:")}  ${text}\n`);
  },
  warning(text: string): void {
    process.stderr.write(`${colors.yellow("warning:")} ${text}\n`);
  },
  /** For `--verbose`, and for state changes such as a lost connection. */
  detail(text: string): void {
    process.stderr.write(`${colors.dim(text)}\n`);
  },
  error(message: string, details: readonly string[] = [], advice = ""): void {
    const lines = [`${colors.bold(colors.red("error:"))} ${message}`, ...details];
    if (advice !== "") lines.push(`${colors.cyan("hint:")}  ${advice}`);
    process.stderr.write(`${lines.join("\n")}\n`);
  },
};
