/** The exports of CommonJS modules, as ES modules that import them see them in Node. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { init, parse } from "cjs-module-lexer";
import { nearestManifest } from "./declared.ts";

export type ModuleFormat = "esm" | "commonjs" | "json" | "other";

/** The format of a file by the rules of Node: its extension, the `type` of its package, or its syntax. */
export async function formatOf(file: string): Promise<ModuleFormat> {
  const extension = extname(file);
  if (extension === ".mjs" || extension === ".mts") return "esm";
  if (extension === ".cjs" || extension === ".cts") return "commonjs";
  if (extension === ".json") return "json";
  if (![".js", ".ts", ".jsx", ".tsx", ""].includes(extension)) return "other";
  const type = nearestManifest(file)?.type;
  if (type === "module") return "esm";
  if (type === "commonjs" || extension === "") return "commonjs";
  await init();
  return lex(file) === null ? "esm" : "commonjs";
}

/**
 * The named exports of a CommonJS module, sorted, without `default`: names assigned to `exports` in its source, and those
 * of modules that it re-exports. Does not run the module.
 */
export async function namedExports(file: string): Promise<string[]> {
  await init();
  const names = new Set<string>();
  const seen = new Set<string>();
  const queue = [file];
  for (let current = queue.pop(); current !== undefined; current = queue.pop()) {
    if (seen.has(current)) continue;
    seen.add(current);
    const found = lex(current);
    for (const name of found?.exports ?? []) names.add(name);
    for (const specifier of found?.reexports ?? []) {
      const target = resolveFrom(current, specifier);
      // Node analyzes only these extensions.
      if (target !== null && [".js", ".cjs", ""].includes(extname(target))) queue.push(target);
    }
  }
  names.delete("default");
  names.delete("module.exports");
  return [...names].toSorted();
}

/** The source of an ES module with the exports of a CommonJS module: `module.exports` as `default`, and each name. */
export function wrapCommonJs(file: string, names: readonly string[]): string {
  const lines = [
    `const exported = require(${JSON.stringify(file)});`,
    "const members = Object(exported);",
    "const member = (name) => (Object.hasOwn(members, name) ? members[name] : undefined);",
    'export { exported as default, exported as "module.exports" };',
  ];
  for (const [index, name] of names.entries()) {
    const quoted = JSON.stringify(name);
    lines.push(`const name${index} = member(${quoted});`, `export { name${index} as ${quoted} };`);
  }
  return `${lines.join("\n")}\n`;
}

/** Null when the file is not CommonJS. */
function lex(file: string): { exports: string[]; reexports: string[] } | null {
  try {
    return parse(readFileSync(file, "utf8"), file);
  } catch {
    return null;
  }
}

function resolveFrom(file: string, specifier: string): string | null {
  try {
    return createRequire(file).resolve(specifier);
  } catch {
    return null;
  }
}
