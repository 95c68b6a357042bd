/** `svc` as a process of its own. */
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment, commandOf, type Runtime, root } from "../support/runtimes.ts";

/** The script that users start. */
export const launcher: string = join(root, "cli/launcher.js");

export interface Result {
  /** Null when a signal ended the process. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Options {
  cwd?: string;
  /** On top of an environment without any of the command's own variables. */
  env?: Readonly<Record<string, string>>;
  /** Standard input; empty when not given. */
  input?: string | Uint8Array;
  /** Called with each piece of standard output and standard error, and the process: to wait for an event. */
  onOutput?: (all: Result, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs `svc` as a process of its own, as a user would, and returns what it printed. */
export function svc(runtime: Runtime, args: readonly string[], options: Options = {}): Promise<Result> {
  const [program, ...before] = commandOf(runtime);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...before, launcher, ...args], {
      cwd: options.cwd ?? tmpdir(),
      env: { ...bareEnvironment(), ...options.env },
    });
    const result: Result = { code: null, stdout: "", stderr: "" };
    const take = (stream: "stdout" | "stderr") => (chunk: string) => {
      result[stream] += chunk;
      options.onOutput?.(result, (signal) => child.kill(signal));
    };
    child.stdout.setEncoding("utf8").on("data", take("stdout"));
    child.stderr.setEncoding("utf8").on("data", take("stderr"));
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...result, code }));
    // A command that does not read its input may be gone before this is written.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
  });
}
