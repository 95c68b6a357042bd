import { prettyJson } from "./sanitize.ts";
import { writeLine } from "./write.ts";

/** Writes a line to standard output. */
export function print(text: string): void {
  writeLine(process.stdout, text);
}

/** Writes a value to standard output as indented JSON. */
export function printJson(value: unknown): void {
  print(prettyJson(value));
}
