/**
 * Runs commands of the CLI one after the other in one process, which costs a tenth of a process for each. A command has its
 * own arguments, environment, folder, standard input and outputs, and its exit listeners run at its end.
 */
import { Readable } from "node:stream";
// It keeps the folder in which it was loaded, which must not be that of the first command.
import "esbuild";
import { reportError, run } from "../../cli/app/dispatch.ts";
import { handleSignals } from "../../cli/app/signals.ts";
import { cleanConsole } from "../../cli/terminal/write.ts";

export interface HostedCommand {
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Base64. */
  input: string;
}

export interface HostedResult {
  code: number;
  stdout: string;
  stderr: string;
}

handleSignals();
cleanConsole();
process.on("message", async (command: HostedCommand) => process.send?.(await execute(command)));
// The tests have ended.
process.on("disconnect", () => process.exit());

async function execute({ args, cwd, env, input }: HostedCommand): Promise<HostedResult> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const bytes = Buffer.from(input, "base64");
  Object.defineProperty(process, "stdin", { value: Readable.from([bytes]), configurable: true });
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    Object.assign(process[name], {
      write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
        written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
        const done = rest.at(-1);
        if (typeof done === "function") process.nextTick(done);
        return true;
      },
    });
  }
  const before = new Set(process.listeners("exit"));
  const code = await codeOf(args);
  for (const listener of process.listeners("exit")) {
    if (before.has(listener)) continue;
    process.off("exit", listener);
    listener.call(process, code);
  }
  return { code, ...written };
}

/** The exit code of the command, or of its first error that no code handles. */
function codeOf(args: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const fail = (error: unknown) => void reportError(error).then(resolve);
    process.once("uncaughtException", fail);
    void run(args).then((code) => {
      process.off("uncaughtException", fail);
      resolve(code);
    });
  });
}
