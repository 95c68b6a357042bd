/**
 * Writes the modules of a package without their types, with all positions as they are: `node program.ts PACKAGE TARGET`.
 * Omits modules that Node cannot load, so that loading them fails as it does without this.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

const [source = "", target = ""] = process.argv.slice(2);

/** Node strips larger modules in the runner. */
const maxFileCharacters = 2 ** 20;

mkdirSync(target);
visit("");

function visit(folder: string): void {
  for (const entry of readdirSync(join(source, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // Node refuses types in node_modules.
    if (entry.isDirectory() && entry.name !== "node_modules") visit(path);
    else if (entry.isFile() && /(?<!\.d)\.m?ts$/.test(entry.name)) strip(path);
  }
}

function strip(path: string): void {
  const text = readFileSync(join(source, path), "utf8");
  if (text.length > maxFileCharacters) return;
  let code: string;
  try {
    code = stripTypeScriptTypes(text);
  } catch {
    return;
  }
  mkdirSync(dirname(join(target, path)), { recursive: true });
  writeFileSync(join(target, path), code);
}
