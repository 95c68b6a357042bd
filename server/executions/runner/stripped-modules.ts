/** Loads the modules of a package whose types the server has stripped. Otherwise Node strips them, which takes 50 ms. */
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { strippedFolder } from "./protocol.ts";

/** @param directory - the package */
export function loadStrippedModules(directory: string): void {
  const stripped = join(directory, strippedFolder);
  if (!existsSync(stripped)) return;
  const root = `${pathToFileURL(directory).href}/`;
  // Bun does not export it.
  module.registerHooks({
    load(url, context, next) {
      const isOwn = context.format === "module-typescript" && url.startsWith(root);
      const source = isOwn ? read(join(stripped, fileURLToPath(url).slice(directory.length))) : null;
      return source === null ? next(url, context) : { format: "module", source, shortCircuit: true };
    },
  });
}

/** Null when the module could not be stripped. */
function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
