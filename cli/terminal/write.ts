/**
 * The only way of text to standard output and standard error. It removes escape sequences and control characters, except
 * the colors of this program, so that no text of a project, a payload, a log or the service can control the terminal.
 */
import { format } from "node:util";
import { renderColors } from "./colors.ts";
import { sanitize } from "./sanitize.ts";

/** Writes a text and a line break. */
export function writeLine(stream: NodeJS.WriteStream, text: string): void {
  stream.write(`${clean(text)}\n`);
}

/** Erases the screen and the lines above it, and moves the cursor to the top. */
export function clearScreen(stream: NodeJS.WriteStream): void {
  stream.write("\u001b[2J\u001b[3J\u001b[H");
}

/** A text for the terminal, for the few places that write control sequences of their own. */
export function clean(text: string): string {
  return renderColors(text, sanitize);
}

/** Cleans the messages of the server and the runner pool, which use `console`. */
export function cleanConsole(): void {
  const write =
    (stream: NodeJS.WriteStream) =>
    (...values: unknown[]): void =>
      writeLine(stream, format(...values));
  Object.assign(console, {
    log: write(process.stdout),
    info: write(process.stdout),
    warn: write(process.stderr),
    error: write(process.stderr),
  });
}
