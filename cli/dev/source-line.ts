import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceLine {
  /** Relative to the project. */
  file: string;
  line: number;
  /** From 1. */
  column: number;
  /** The text of the line; empty when it cannot be read. */
  text: string;
}

const ownFrame = /\b((?:agents|workflows)\/[^\s():]+):(\d+)(?::(\d+))?/;

/** The innermost line of the project in a stack trace; null when the stack has none. */
export function sourceLineOf(root: string, stack: string): SourceLine | null {
  const match = stack
    .split("\n")
    .map((frame) => ownFrame.exec(frame))
    .find((found) => found !== null);
  if (match === undefined || match === null) return null;
  const [, file = "", line = "1", column = "1"] = match;
  return { file, line: Number(line), column: Number(column), text: lineOf(join(root, file), Number(line)) };
}

function lineOf(path: string, line: number): string {
  try {
    return readFileSync(path, "utf8").split("\n")[line - 1]?.trimEnd() ?? "";
  } catch {
    return "";
  }
}
