import { invalidArgument, isRestError, messageOf, quote } from "./error.ts";
import type { AgentTool } from "./tools.ts";

/** @throws RestError `invalid_argument` naming the tools that exist */
export function findTool(tools: readonly AgentTool[], name: string): AgentTool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  const names = tools.map((candidate) => candidate.name).join(", ");
  throw invalidArgument(`Cannot call the tool ${quote(name)}: there are ${names}`);
}

/** A tool's result as the text that a model reads. */
export function resultText(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

/** A tool's failure as the text that a model reads: the message and what the server said. */
export function failureText(error: unknown): string {
  const body = isRestError(error) && error.body !== null ? `\n${resultText(error.body)}` : "";
  return `Error: ${messageOf(error)}${body}`;
}

/**
 * The arguments of a call, as models write them: JSON text, or nothing for none.
 *
 * @throws RestError `invalid_argument`
 */
export function parseArguments(name: string, text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidArgument(`Cannot call ${name}: its arguments must be JSON: ${messageOf(error)}`);
  }
}
