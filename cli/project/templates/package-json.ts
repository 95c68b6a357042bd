export type Runtime = "node" | "bun" | "deno";

/** A dependency on this package: `npm:svc-agents@^0.1.0`, or `file:` and the folder of a checkout. */
export type Dependency = `npm:${string}` | `file:${string}`;

/** The command line, and the command that runs tests written for `node:test`. `bunx --bun` runs svc on Bun, not on Node. */
const commands: Record<Runtime, { svc: string; test: string }> = {
  node: { svc: "svc", test: "node --test" },
  bun: { svc: "bunx --bun svc", test: "bun test" },
  deno: { svc: "svc", test: "deno test --allow-all --no-check" },
};

/** The `package.json` of a new project. */
export function packageJson({
  name,
  runtime,
  svc,
}: {
  name: string;
  runtime: Runtime;
  svc: Dependency;
}): string {
  const { svc: run, test } = commands[runtime];
  const manifest = {
    name: name.toLowerCase(),
    version: "1.0.0",
    private: true,
    type: "module",
    scripts: {
      dev: `${run} dev`,
      test: `${run} test && ${test}`,
      types: "tsc",
      push: `${run} push`,
      // `deno task svc` is what `npx svc` is on Node.
      ...(runtime === "deno" && { svc: run }),
    },
    dependencies: { svc },
    devDependencies: { "@types/node": "^24.0.0", typescript: "^7.0.0" },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
