/** Single keys on a terminal. */

/** @returns a function that restores the mode of the terminal; null without a terminal */
export function readKeys(onKey: (key: string) => void): (() => void) | null {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true) return null;
  const onData = (text: string): void => {
    // A longer text is pasted, or an escape sequence of an arrow key.
    if (text.length === 1) onKey(text);
  };
  stdin.setRawMode(true);
  stdin.setEncoding("utf8").on("data", onData).resume();
  return () => {
    stdin.off("data", onData).pause();
    stdin.setRawMode(false);
  };
}
