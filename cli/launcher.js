#!/usr/bin/env node
// The `bin` of the package. Plain JavaScript that parses on Node 14, so that an old runtime gets a message instead of
// a syntax error. Top-level await and newer syntax are not available here.

const versions = process.versions;
// Bun and Deno also report a Node version, so they are checked first.
const runtime = versions.bun
  ? { name: "Bun", found: versions.bun, required: [1, 4] }
  : versions.deno
    ? { name: "Deno", found: versions.deno, required: [2, 9] }
    : { name: "Node.js", found: versions.node, required: [24, 0] };

const [major, minor] = runtime.found.split(".").map(Number);
if (major < runtime.required[0] || (major === runtime.required[0] && minor < runtime.required[1])) {
  const required = runtime.required[1] === 0 ? String(runtime.required[0]) : runtime.required.join(".");
  console.error(
    `svc requires ${runtime.name} ${required} or newer; this is ${runtime.name} ${runtime.found}.`,
  );
  process.exit(1);
}

// Not imported: an import of `node:fs` also loads the parts that Node loads when they are used, and old versions of Node
// do not have this function, so that the check above comes first.
const fs = process.getBuiltinModule("node:fs");
const module = process.getBuiltinModule("node:module");
const url = process.getBuiltinModule("node:url");

// Of packages that npm has installed globally, Deno finds none, and an import of one from within an import that has failed
// keeps Deno busy forever.
if (versions.deno && !finds("citty")) {
  const path = url.fileURLToPath(import.meta.url);
  console.error(
    "svc cannot load its dependencies, because Deno does not search the node_modules folder that contains svc.",
  );
  console.error(
    `Run \`deno run -A --node-modules-dir=manual ${path}\`, or install it for Deno: \`deno install -gA -n svc npm:svc-agents\`.`,
  );
  process.exit(1);
}

// Without the cache, Node strips the types of a checkout and compiles every module on each start: 60 ms instead of 30.
// On Bun, it saves 8 ms of a command, and costs a server 3 MB.
const isServer = versions.bun && process.argv[2] === "serve";
if (!isServer && typeof module.enableCompileCache === "function") module.enableCompileCache();

// The published package contains no sources. In a checkout, the sources take precedence over an old build.
const source = new URL("./program.ts", import.meta.url);
import(fs.existsSync(source) ? source.href : new URL("../dist/bundle/program.js", import.meta.url).href);

function finds(name) {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
