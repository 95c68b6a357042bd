import { err } from "./colors.ts";

/**
 * What people read while a command works, all on standard error, so that standard output holds the result alone.
 * consola could do this, but its throttle drops repeated lines and its import is felt in `svc --help`.
 */
export const say = {
  /** A line as it is. */
  line(text = ""): void {
    process.stderr.write(`${text}\n`);
  },
  /** Something is done. */
  done(text: string): void {
    process.stderr.write(`${err.green("✔")} ${text}\n`);
  },
  /** Worth knowing, not wrong. */
  hint(text: string): void {
    process.stderr.write(`${err.cyan("hint:")}  ${text}\n`);
  },
  /** May be wrong. */
  warning(text: string): void {
    process.stderr.write(`${err.yellow("warning:")} ${text}\n`);
  },
  /** For `--verbose`. */
  detail(text: string): void {
    process.stderr.write(`${err.dim(text)}\n`);
  },
  error(message: string, details: readonly string[], advice: string): void {
    const lines = [`${err.bold(err.red("error:"))} ${message}`, ...details];
    if (advice !== "") lines.push(`${err.cyan("hint:")}  ${advice}`);
    process.stderr.write(`${lines.join("\n")}\n`);
  },
};
