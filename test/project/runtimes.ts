import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const runtimes = ["node", "bun", "deno"] as const;
export type RuntimeName = (typeof runtimes)[number];

/** The `node_modules` of this repository. */
export const modulesFolder: string = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Runs a module on one runtime, and returns its standard output. */
export async function runModule(
  runtime: RuntimeName,
  file: string,
  args: readonly string[] = [],
): Promise<string> {
  const before = runtime === "deno" ? ["run", "-A", "--quiet"] : [];
  // The module must not find modules of this repository or Deno's cache.
  const env = {
    PATH: process.env.PATH,
    HOME: "/nonexistent",
    DENO_DIR: join(file, "..", ".deno"),
    DENO_NO_UPDATE_CHECK: "1",
  };
  const { stdout } = await promisify(execFile)(
    join(modulesFolder, ".bin", runtime),
    [...before, file, ...args],
    {
      cwd: join(file, ".."),
      env,
      maxBuffer: 1e8,
    },
  );
  return stdout;
}
