import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RuntimeName } from "./context.ts";

const bin = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "..", ".bin");

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The command that runs a script on a runtime, as the project pins it. */
export function commandFor(runtime: RuntimeName, denoFlags: string[] = ["-A"]): string[] {
  const program = join(bin, runtime);
  return runtime === "deno" ? [program, "run", "--no-prompt", ...denoFlags] : [program];
}

/** Runs a command to its end. */
export async function run(
  [program = "", ...args]: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: "1", ...options.env },
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
