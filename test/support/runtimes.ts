/** The three runtimes, in the versions that package.json pins. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type Runtime = "node" | "bun" | "deno";
export const runtimes: readonly Runtime[] = ["node", "bun", "deno"];

/**
 * The runtimes of a suite whose features do not depend on the runtime: all with `ALL_RUNTIMES=1`
 * (`npm run test:runtimes`), otherwise `here`. Other suites always run on all three.
 */
export function commandRuntimes(here: Runtime): readonly Runtime[] {
  return process.env.ALL_RUNTIMES === undefined ? [here] : runtimes;
}

/** The root folder of the repository. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** A program of node_modules/.bin. */
export function bin(name: string): string {
  return join(root, "node_modules/.bin", name);
}

/**
 * Settings of a server whose tests do not depend on the runtime of its runners: a runner on Bun starts in a third of the
 * processor time of one on Node. `npm run test:runtimes` starts them on the runtime of the server.
 */
export const fastRunners: Readonly<Record<string, string>> =
  process.env.ALL_RUNTIMES === undefined ? { SVC_RUNNER: "bun", SVC_RUNNER_PATH: bin("bun") } : {};

/** The command that starts a script on a runtime. */
export function commandOf(runtime: Runtime): readonly [program: string, ...args: string[]] {
  return runtime === "deno" ? [bin("deno"), "run", "-A", "--quiet"] : [bin(runtime)];
}

/** An environment without variables of this project and of the test runner. */
export function bareEnvironment(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG", "DENO_DIR"];
  const inherited = kept.flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  );
  // The same on every machine, and open to the servers of the tests. `test/isolation` tests the boundaries.
  return {
    ...Object.fromEntries(inherited),
    // No profiles of the person who runs the tests.
    XDG_CONFIG_HOME: join(root, "test/fixtures/no-config"),
    SVC_LOG: "text",
    SVC_SANDBOX: "none",
    SVC_RUNNER_NETWORK: "all",
    SVC_ALLOW_UNSANDBOXED: "1",
  };
}
