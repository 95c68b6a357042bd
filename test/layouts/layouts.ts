/** The layouts in which the package may be installed, and the commands that must work in each. */
import type { Runtime } from "../support/runtimes.ts";

export interface Layout {
  name: string;
  runtime: Runtime;
  /** Lines of shell that install svc in a folder with a project whose template needs no package. */
  install: readonly string[];
  /** The command line in this folder. */
  svc: string;
  /** For a layout that the runtime does not support: what svc prints. */
  refusal?: RegExp;
}

const global = "npm install --global --prefix ./global svc-agents";
const launcher = "./global/lib/node_modules/svc-agents/cli/launcher.js";
const denoConfig = (mode: string): string =>
  `echo '{"nodeModulesDir":"${mode}"}' > deno.json && rm package.json`;

export const layouts: readonly Layout[] = [
  { name: "npm install", runtime: "node", install: ["npm install"], svc: "npx svc" },
  { name: "npm install --global", runtime: "node", install: [global], svc: "./global/bin/svc" },
  { name: "npx", runtime: "node", install: [], svc: "npx --yes svc-agents" },
  { name: "bun install", runtime: "bun", install: ["bun install"], svc: "bunx --bun svc" },
  { name: "bunx", runtime: "bun", install: [], svc: "bunx --bun svc-agents" },
  {
    name: "bun add --global",
    runtime: "bun",
    install: ["bun add --global svc-agents"],
    svc: 'bun "$HOME/.bun/bin/svc"',
  },
  { name: "deno install", runtime: "deno", install: ["deno install"], svc: "deno task --quiet svc" },
  { name: "deno run npm:", runtime: "deno", install: ["deno install"], svc: "deno run -A npm:svc-agents" },
  {
    name: "deno run npm:, without package.json",
    runtime: "deno",
    install: ["rm package.json"],
    svc: "deno run -A npm:svc-agents",
  },
  ...["none", "auto", "manual"].map((mode) => ({
    name: `deno add, nodeModulesDir ${mode}`,
    runtime: "deno" as const,
    install: [denoConfig(mode), "deno add npm:svc-agents"],
    svc: "deno run -A npm:svc-agents",
  })),
  {
    name: "deno install --global",
    runtime: "deno",
    install: ["deno install --global --allow-all --root ./global --name svc npm:svc-agents"],
    svc: "./global/bin/svc",
  },
  {
    // With a package.json in the folder, Deno does search node_modules.
    name: "npm install --global under Deno, without package.json",
    runtime: "deno",
    install: [global, "rm package.json"],
    svc: `deno run -A ${launcher}`,
    refusal: /svc cannot load its dependencies, because Deno .*\nRun `deno run -A --node-modules-dir=manual/,
  },
  {
    name: "npm install --global under Deno, with its advice",
    runtime: "deno",
    install: [global, "rm package.json"],
    svc: `deno run -A --node-modules-dir=manual ${launcher}`,
  },
];
