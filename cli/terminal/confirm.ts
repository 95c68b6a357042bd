import { Exit, UsageError } from "../app/errors.ts";
import { isInteractive, prompt } from "./prompt.ts";
import { report } from "./report.ts";

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
  if ((await prompt(question, { type: "confirm", initial: false })) === true) return;
  report.line("Cancelled. Nothing was changed.");
  throw new Exit(1);
}
