/** Finds a program by name: on the PATH, then in the `node_modules/.bin` of this package and of the folders above it. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** @returns the real path, or null when there is no such program */
export function findProgram(name: string, env: Record<string, string | undefined>): string | null {
  const onPath = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of [...onPath, ...installedFolders()]) {
    const program = asProgram(join(folder, name));
    if (program !== null) return program;
  }
  return null;
}

/** @returns the real path of an executable file, or null */
export function asProgram(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? realpathSync(path) : null;
  } catch {
    return null;
  }
}

function installedFolders(): string[] {
  const folders: string[] = [];
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    folders.push(join(folder, "node_modules", ".bin"));
    if (folder === dirname(folder)) return folders;
  }
}
