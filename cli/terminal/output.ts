import { prettyJson } from "./sanitize.ts";

/** Writes a line to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes a value to standard output as indented JSON. */
export function printJson(value: unknown): void {
  print(prettyJson(value));
}
