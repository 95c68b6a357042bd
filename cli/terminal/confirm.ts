import { Silent, UsageError } from "../app/errors.ts";
import { onInterruptDo } from "../app/signals.ts";
import { say } from "./report.ts";

/**
 * Asks a yes-or-no question; the answer is no unless a person says yes. `--force` skips the question. After a no the
 * command ends with 1, so that what follows it in a script does not go on as if it had been done.
 *
 * @throws UsageError where nobody can be asked: without a terminal, or for a program that wants JSON
 */
export async function confirm(question: string, options: { force: boolean; json: boolean }): Promise<void> {
  if (options.force) return;
  if (options.json || !canAsk()) {
    const why = options.json ? "--json asks nothing" : "there is no terminal to ask on";
    throw new UsageError(
      `This needs a confirmation, and ${why}.`,
      "Pass --force to go on without a question.",
    );
  }
  const { consola } = await import("consola");
  // The prompt switches the terminal to raw mode, reads Ctrl-C itself and answers with a symbol.
  const answer: unknown = await onInterruptDo(null, () =>
    consola.prompt(question, { type: "confirm", initial: false, cancel: "symbol" }),
  );
  if (typeof answer === "symbol") process.exit(130);
  if (answer === true) return;
  say.line("Nothing was changed.");
  throw new Silent(1);
}

function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && process.stderr.isTTY === true;
}
