/**
 * The command line and the server of this checkout, bundled as in the published package, once for a run of the suite. A
 * server on Node starts from the bundle in half of the processor time that it takes from the sources, and its runners in a
 * quarter.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { addressVariable, askEndpoint } from "./endpoints.ts";
import { copyOfRepository } from "./package.ts";
import { bin, type Runtime, root } from "./runtimes.ts";

/**
 * The script that starts a server on a runtime: the bundle on Node and Deno, the sources on Bun, where they start as fast.
 * Outside of the suite always the sources.
 */
export async function launcherOf(runtime: Runtime): Promise<string> {
  if (runtime === "bun" || process.env[addressVariable] === undefined) return join(root, "cli/launcher.js");
  return askEndpoint("launcher");
}

/** Bundles a copy of the working tree. The caller removes its folder. */
export async function buildLauncher(): Promise<{ folder: string; launcher: string }> {
  // Within the checkout: runners find the packages, but may not follow a link to them.
  const parent = join(root, ".vitest");
  mkdirSync(parent, { recursive: true });
  const folder = copyOfRepository(mkdtempSync(join(parent, "svc-built-")));
  rmSync(join(folder, "node_modules"));
  try {
    const run = promisify(execFile);
    const compile = ["-p", "tsconfig.build.json", "--noCheck"];
    await run(bin("tsc"), [...compile, "--declaration", "false", "--isolatedDeclarations", "false"], {
      cwd: folder,
    });
    await run(bin("node"), ["bundle/index.ts"], { cwd: folder });
    await run(bin("node"), ["server/routes/console/bundle.ts"], { cwd: folder });
    // The launcher prefers the sources, and the server those of the console.
    rmSync(join(folder, "cli/program.ts"));
    rmSync(join(folder, "console/main.tsx"));
    return { folder, launcher: join(folder, "cli/launcher.js") };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
