/**
 * Bundles the command line and the server into `dist/bundle`, and the runner, which reads only its own files, into one
 * file, as a part of `npm run build`. The other compiled files are the modules that users import.
 *
 * Node takes about 1 ms to find and load a module, and `svc status` consists of 170 of them.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { builtins } from "./builtins.ts";
import { groupModules } from "./groups.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const outdir = join(root, "dist/bundle");
/** Packages that start programs or files of their own, optional ones, and those that a runner must find in `node_modules`. */
const external = [
  "esbuild",
  "pg",
  "@opentelemetry/api",
  "cjs-module-lexer",
  "consola",
  "node-cron",
  "ofetch",
];

await rm(outdir, { recursive: true, force: true });
await bundle({
  entryPoints: ["cli/program.ts"],
  outdir,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  splitting: true,
  external,
  plugins: [
    builtins,
    groupModules({
      root,
      external,
      folders: ["cli", "project", "server"],
      groups: {
        // Apart from `client`, whose contract the server loads by itself.
        serve: /^cli\/commands\/serve\.ts$/,
        // What calls the service, with Connect and the contract.
        client: /^cli\/(commands|api)\//,
        // What reads, checks and runs projects.
        tools: /^(cli\/(completion|dev|doctor|local|mcp|project|push|senders)|project\/prepare)\b/,
        // Parts of the server that are loaded when they are used. An idle server on Bun holds the text of each file.
        optional:
          /^server\/(admin|openapi|routes\/(console|mcp|openapi-targets)|services\/deployments\/project|storage\/s3|store\/postgres|telemetry\/tracing)\b/,
        server: /^server\//,
      },
    }),
  ],
  define: { "import.meta.url": "svcModuleUrl" },
  banner: {
    js: 'const svcFileUrl = import.meta.url;\nconst require = process.getBuiltinModule("node:module").createRequire(svcFileUrl);',
  },
});

const runner = "dist/server/executions/runner";
await rm(join(root, runner), { recursive: true, force: true });
await bundle({ entryPoints: ["server/executions/runner/main.ts"], outdir: runner, plugins: [builtins] });

async function bundle(options: BuildOptions): Promise<void> {
  const { outputFiles = [] } = await build({
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    logLevel: "warning",
    write: false,
    ...options,
  });
  for (const { path, text } of outputFiles) {
    await mkdir(dirname(path), { recursive: true });
    // esbuild escapes the characters beyond ASCII except in comments and regular expressions. With one of them, V8 keeps
    // the file as UTF-16, in twice the memory: 1.5 MB for the server.
    await writeFile(path, text.replace(/[^\0-\x7f]/g, escapeOf));
  }
}

/** The escape of a UTF-16 unit, which a regular expression reads as the character. */
function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
