/** What Node shows of a CommonJS module to those who import it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { init, parse } from "cjs-module-lexer";
import { nearestManifest } from "./declared.ts";

export type ModuleFormat = "esm" | "commonjs" | "json" | "other";

/** The format of a file as Node decides it: by extension, by the `type` of its package, else by its syntax. */
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
 * Names that can be imported from a CommonJS module beside `default`, sorted: those that its text assigns to `exports`,
 * and those of modules that it exports as a whole. It is not run.
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
      // Only these does Node look into.
      if (target !== null && [".js", ".cjs", ""].includes(extname(target))) queue.push(target);
    }
  }
  names.delete("default");
  names.delete("module.exports");
  return [...names].toSorted();
}

/** A module that exports what Node would show of a CommonJS one: the whole as `default`, and each name. */
export function wrapCommonJs(file: string, names: readonly string[]): string {
  const lines = [
    `const whole = require(${JSON.stringify(file)});`,
    "const members = Object(whole);",
    "const member = (name) => (Object.hasOwn(members, name) ? members[name] : undefined);",
    'export { whole as default, whole as "module.exports" };',
  ];
  for (const [index, name] of names.entries()) {
    const quoted = JSON.stringify(name);
    lines.push(`const name${index} = member(${quoted});`, `export { name${index} as ${quoted} };`);
  }
  return `${lines.join("\n")}\n`;
}

/** Null when the text is no CommonJS. */
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
