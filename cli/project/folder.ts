import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { PROJECT_FILE } from "../../project/names.ts";

/** The folder of the project: the nearest one with a project file, from a folder upwards; that folder itself without one. */
export function projectFolder(from: string = process.cwd()): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, PROJECT_FILE))) return folder;
    if (folder === dirname(folder)) return from;
  }
}
