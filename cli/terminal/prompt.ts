import type { Key } from "node:readline";
import type { PromptOptions } from "consola";
import { Exit } from "../app/errors.ts";
import { withInterrupt } from "../app/signals.ts";
import { report } from "./report.ts";
import { clean } from "./write.ts";

/** Whether a person can answer a question. */
export function isInteractive(): boolean {
  return [process.stdin, process.stdout, process.stderr].every(({ isTTY }) => isTTY === true);
}

/**
 * Asks a question on the terminal.
 *
 * @throws Exit with 130 on Esc and Ctrl-C
 */
export async function prompt(question: string, options: PromptOptions): Promise<unknown> {
  const { consola } = await import("consola");
  process.stdin.prependListener("keypress", cancelOnEscape);
  // The prompt switches the terminal to raw mode and reads Ctrl-C itself.
  const answer: unknown = await withInterrupt(null, () =>
    consola.prompt(clean(question), { ...options, cancel: "symbol" } as PromptOptions),
  ).finally(() => process.stdin.off("keypress", cancelOnEscape));
  if (typeof answer !== "symbol") return answer;
  report.line("Cancelled. Nothing was changed.");
  throw new Exit(130);
}

/** Turns Esc into Ctrl-C: on Esc, the prompt selects and prints "Yes" before it cancels. */
function cancelOnEscape(_character: string | undefined, key: Key): void {
  if (key.name === "escape") Object.assign(key, { name: "c", sequence: "\u0003", ctrl: true });
}
