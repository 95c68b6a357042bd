import type { Key } from "node:readline";
import { Exit, UsageError } from "../app/errors.ts";
import { withInterrupt } from "../app/signals.ts";
import { report } from "./report.ts";
import { clean } from "./write.ts";

/**
 * Asks a yes-or-no question; the default answer is no. `--force` skips the question. After a no the command exits
 * with 1, so that a script does not continue as if the command had succeeded; Esc and Ctrl-C exit with 130.
 *
 * @throws UsageError without a terminal, and with `--json`
 */
export async function confirm(question: string, options: { force: boolean; json: boolean }): Promise<void> {
  if (options.force) return;
  if (options.json || !isInteractive()) {
    const reason = options.json ? "--json does not prompt" : "there is no terminal";
    throw new UsageError(
      `This command requires confirmation, but ${reason}.`,
      "Pass --yes to skip the confirmation.",
    );
  }
  const { consola } = await import("consola");
  process.stdin.prependListener("keypress", cancelOnEscape);
  // The prompt switches the terminal to raw mode and reads Ctrl-C itself.
  const answer: unknown = await withInterrupt(null, () =>
    consola.prompt(clean(question), { type: "confirm", initial: false, cancel: "symbol" }),
  ).finally(() => process.stdin.off("keypress", cancelOnEscape));
  if (answer === true) return;
  report.line("Cancelled. Nothing was changed.");
  throw new Exit(typeof answer === "symbol" ? 130 : 1);
}

/** Turns Esc into Ctrl-C: on Esc, the prompt selects and prints "Yes" before it cancels. */
function cancelOnEscape(_character: string | undefined, key: Key): void {
  if (key.name === "escape") Object.assign(key, { name: "c", sequence: "\u0003", ctrl: true });
}

function isInteractive(): boolean {
  return [process.stdin, process.stdout, process.stderr].every(({ isTTY }) => isTTY === true);
}
