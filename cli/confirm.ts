import { UsageError } from "./errors.ts";
import { onInterruptDo } from "./interrupt.ts";
import { say } from "./say.ts";

/**
 * Asks a yes-or-no question; the answer is no unless a person says yes. `--force` skips the question.
 *
 * @returns false when the answer is no
 * @throws UsageError where nobody can be asked: without a terminal, or for a program that wants JSON
 */
export async function confirm(
  question: string,
  options: { force: boolean; json: boolean },
): Promise<boolean> {
  if (options.force) return true;
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
  if (answer !== true) say.line("Nothing was changed.");
  return answer === true;
}

function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && process.stderr.isTTY === true;
}
