import { onInterruptDo } from "../app/signals.ts";

/** Reads a line from the terminal without showing what is typed. Ctrl-C ends the program with 130. */
export function promptHidden(label: string): Promise<string> {
  const { stdin, stderr } = process;
  // In raw mode the terminal neither shows what is typed nor turns Ctrl-C into a signal. It must be on before anybody
  // is asked: who types at once would be shown.
  stdin.setRawMode(true);
  stderr.write(`${label}: `);
  stdin.setEncoding("utf8");
  const read = (): Promise<string> =>
    new Promise((resolve) => {
      let line = "";
      const end = (): void => {
        stdin.off("data", take);
        stdin.setRawMode(false);
        stdin.pause();
        stderr.write("\n");
      };
      const take = (typed: string): void => {
        for (const character of typed) {
          if (character === "\r" || character === "\n" || character === "\u0004") {
            end();
            resolve(line);
            return;
          }
          if (character === "\u0003") {
            end();
            process.exit(130);
          }
          if (character === "\u007f" || character === "\b") line = [...line].slice(0, -1).join("");
          else if (character === "\u0015") line = "";
          else if (character >= " ") line += character;
        }
      };
      stdin.on("data", take);
      stdin.resume();
    });
  return onInterruptDo(null, read);
}
