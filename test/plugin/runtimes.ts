import { spawn } from "node:child_process";
import { bareEnvironment, bin, type Runtime } from "../support/runtimes.ts";

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Returns the command that starts a script on a runtime. */
export function commandFor(runtime: Runtime, denoFlags: string[] = ["-A"]): string[] {
  return runtime === "deno" ? [bin("deno"), "run", "--no-prompt", ...denoFlags] : [bin(runtime)];
}

/** Runs a command and collects its output. */
export async function run(
  [program = "", ...args]: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...bareEnvironment(), NO_COLOR: "1", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...output }));
  });
}
