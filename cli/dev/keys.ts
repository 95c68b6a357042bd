/** Single keys on a terminal. */
import type { Connection } from "../api/connection.ts";
import { toCliError } from "../api/error-messages.ts";
import { consoleUrl } from "../api/web-console.ts";
import type { CliError } from "../app/errors.ts";
import { openUrl } from "../terminal/open-url.ts";
import { clearScreen } from "../terminal/write.ts";
import type { Deployer } from "./deployer.ts";
import type { DevReporter } from "./events.ts";

const help = "o open the console  u webhook URLs  r deploy again  c clear  q quit  h help";
const ctrlC = "\u0003";

/** The advice has the address, for a machine without a browser. */
function withAdvice({ message, advice }: CliError): string {
  return `${message} ${advice}`;
}

export interface KeyActions {
  reporter: DevReporter;
  connection: Connection;
  deployer: Deployer;
  quit(): void;
}

/**
 * Reads keys until the returned function restores the mode of the terminal. Has no effect without a terminal.
 */
export function readKeys({ connection, deployer, quit, reporter }: KeyActions): () => void {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true) return () => {};
  const open = async (): Promise<void> => openUrl(await consoleUrl(connection.baseUrl));
  const actions: Readonly<Record<string, () => void>> = {
    o: () => void open().catch((error: unknown) => reporter.warning(withAdvice(toCliError(error)))),
    u: () => reporter.contents(),
    r: () => void deployer.deploy(true),
    c: () => clearScreen(stdout),
    h: () => reporter.message(help),
    q: quit,
    [ctrlC]: quit,
  };
  const onData = (text: string): void => {
    // A longer text is pasted, or the escape sequence of an arrow key.
    if (text.length === 1) actions[text.toLowerCase()]?.();
  };
  stdin.setRawMode(true);
  stdin.setEncoding("utf8").on("data", onData).resume();
  let isRaw = true;
  return () => {
    if (!isRaw) return;
    isRaw = false;
    stdin.off("data", onData).pause();
    stdin.setRawMode(false);
  };
}
