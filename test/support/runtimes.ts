/** The three runtimes, as the project pins them, whatever else the machine has. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Runtime = "node" | "bun" | "deno";
export const runtimes: readonly Runtime[] = ["node", "bun", "deno"];

/**
 * Where a long suite of commands runs: everywhere with `ALL_RUNTIMES=1`, which is `npm run test:runtimes`, otherwise on
 * the runtime that it names. What differs between runtimes has suites of its own, which always run on all three.
 */
export function commandRuntimes(here: Runtime): readonly Runtime[] {
  return process.env.ALL_RUNTIMES === undefined ? [here] : runtimes;
}

/** The folder of package.json. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** A program of node_modules/.bin. */
export function bin(name: string): string {
  return join(root, "node_modules/.bin", name);
}

/** How a runtime starts a script. */
export function commandOf(runtime: Runtime): readonly [program: string, ...args: string[]] {
  return runtime === "deno" ? [bin("deno"), "run", "-A", "--quiet"] : [bin(runtime)];
}

/** An environment that holds nothing of this project's and nothing of the runner's. */
export function bareEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "DENO_DIR"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
