import { spawn } from "node:child_process";
import { CliError } from "../app/errors.ts";

/** An opener that still runs after this time is a browser in the terminal or in the foreground. */
const waitMs = 3_000;

/**
 * Opens an address in the browser: with the program in `BROWSER`, otherwise with that of the platform. No shell is used.
 *
 * @throws CliError when the program is missing or fails
 */
export async function openUrl(url: string): Promise<void> {
  const [program, ...args] = opener(process.env, process.platform);
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.once("error", (error: NodeJS.ErrnoException) =>
    resolve(error.code === "ENOENT" ? "it is not installed" : error.message),
  );
  child.once("exit", (code) => resolve(code === 0 ? "" : `it ended with ${code ?? "a signal"}`));
  const timer = setTimeout(() => resolve(""), waitMs);
  const problem = await ended;
  clearTimeout(timer);
  if (problem !== "") {
    throw new CliError(
      `Cannot open a browser with ${program}: ${problem}.`,
      `Open ${url} yourself, or set BROWSER to a program that opens it.`,
    );
  }
  // Deno fails here when the program did not start.
  child.unref();
}

/** The program and its first arguments. */
function opener(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): [program: string, ...args: string[]] {
  const [program, ...args] = env.BROWSER?.trim().split(/\s+/) ?? [];
  if (program !== undefined && program !== "") return [program, ...args];
  if (platform === "darwin") return ["open"];
  // `start` is a command of the shell.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
