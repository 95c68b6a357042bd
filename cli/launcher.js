#!/usr/bin/env node
// The `bin` of the package. Plain JavaScript that parses on Node 14, so that an old runtime gets a sentence and not
// a syntax error; hence no top-level await and no newer syntax here.
import { existsSync } from "node:fs";
import * as module from "node:module";

const versions = process.versions;
// Bun and Deno name a Node version too, so they are asked first.
const runtime = versions.bun
  ? { name: "Bun", found: versions.bun, required: [1, 4] }
  : versions.deno
    ? { name: "Deno", found: versions.deno, required: [2, 9] }
    : { name: "Node.js", found: versions.node, required: [24, 0] };

const [major, minor] = runtime.found.split(".").map(Number);
if (major < runtime.required[0] || (major === runtime.required[0] && minor < runtime.required[1])) {
  const required = runtime.required[1] === 0 ? String(runtime.required[0]) : runtime.required.join(".");
  console.error(`svc needs ${runtime.name} ${required} or newer; this is ${runtime.name} ${runtime.found}.`);
  process.exit(1);
}

// Node otherwise strips the types of a checkout and compiles every module anew on each start: 60 ms instead of 30.
if (typeof module.enableCompileCache === "function") module.enableCompileCache();

// The published package has no sources. A checkout may hold an old build beside them, which must not win.
const source = new URL("./main.ts", import.meta.url);
import(existsSync(source) ? source.href : new URL("../dist/cli/main.js", import.meta.url).href);
