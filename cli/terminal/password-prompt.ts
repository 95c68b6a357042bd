import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { withInterrupt } from "../app/signals.ts";
import { clean } from "./write.ts";

/** Reads a line from the terminal without echo. Ctrl-C exits with 130. */
export function promptPassword(label: string): Promise<string> {
  const { stdin, stderr } = process;
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  // readline switches the terminal to raw mode before the prompt appears, so that no typed character is echoed.
  const lines = createInterface({ input: stdin, output: discard, terminal: true });
  stderr.write(clean(`${label}: `));
  const read = (): Promise<string> =>
    new Promise((resolve) => {
      lines.once("line", (line) => resolve(line));
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
