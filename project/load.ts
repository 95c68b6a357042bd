import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ParsedProject, PROJECT_FILE, parseProjectFile } from "./file/parse.ts";
import { listTargets } from "./tree.ts";

/**
 * Reads and validates the project file in a folder, and checks that the modules exist. For unpacked packages:
 * `.gitignore` has no effect. A missing project file is a problem.
 *
 * @throws Error when a file cannot be read
 */
export async function loadProject(dir: string): Promise<ParsedProject> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(join(dir, PROJECT_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const message = `there is no ${PROJECT_FILE} here`;
    return { definition: null, problems: [{ line: 1, column: 1, message, source: "" }] };
  }
  return parseProjectFile(bytes, { files: new Set(await listTargets(dir)) });
}
