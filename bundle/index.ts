/**
 * Bundles the command line and the server into `dist/bundle`, and the runner, which reads only its own files, into one
 * file, as a part of `npm run build`. The other compiled files are the modules that users import.
 *
 * Node takes about 1 ms to find and load a module, and `svc status` consists of 170 of them.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
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
await build({
  absWorkingDir: root,
  entryPoints: ["cli/program.ts"],
  outdir,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  external,
  plugins: [
    builtins,
    groupModules({
      root,
      external,
      folders: ["cli", "project", "server"],
      groups: {
        // What calls the service, with Connect and the contract.
        client: /^cli\/(commands|api)\//,
        // What reads, checks and runs projects.
        tools: /^(cli\/(completion|dev|doctor|local|mcp|project|push|senders)|project\/prepare)\b/,
        server: /^server\//,
      },
    }),
  ],
  define: { "import.meta.url": "svcModuleUrl" },
  banner: {
    js: 'const svcFileUrl = import.meta.url;\nconst require = process.getBuiltinModule("node:module").createRequire(svcFileUrl);',
  },
  logLevel: "warning",
});

const runner = "dist/server/executions/runner";
await rm(join(root, runner), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: ["server/executions/runner/main.ts"],
  outdir: runner,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  plugins: [builtins],
  logLevel: "warning",
});
