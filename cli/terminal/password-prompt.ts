import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { UsageError } from "../app/errors.ts";
import { withInterrupt } from "../app/signals.ts";
import { clean } from "./write.ts";

/** For how long the rest of a paste may take to arrive. */
const pasteMs = 50;

/**
 * Reads a line from the terminal without echo. Ctrl-C exits with 130.
 *
 * @throws UsageError when several lines are pasted: only the first one would be used
 */
export function promptPassword(label: string): Promise<string> {
  const { stdin, stderr } = process;
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  // readline switches the terminal to raw mode before the prompt appears, so that no typed character is echoed.
  const lines = createInterface({ input: stdin, output: discard, terminal: true });
  stderr.write(clean(`${label}: `));
  const read = (): Promise<string> =>
    new Promise((resolve, reject) => {
      // The lines of a paste arrive together, in one turn of the event loop.
      lines.once("line", (line) => {
        const more = () => reject(severalLines(label));
        lines.once("line", more);
        setTimeout(() => {
          if (lines.line !== "") more();
          resolve(line);
        }, pasteMs);
      });
      lines.once("SIGINT", () => {
        lines.close();
        stderr.write("\n");
        process.exit(130);
      });
      lines.once("close", () => resolve(""));
    });
  return withInterrupt(null, read).finally(() => {
    lines.close();
    stderr.write("\n");
  });
}

function severalLines(label: string): UsageError {
  return new UsageError(
    `Cannot read ${label}: it has several lines.`,
    "Pass a value of several lines on standard input.",
  );
}
