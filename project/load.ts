import { type ParsedProject, parseProjectFile } from "./file/parse.ts";
import { readProjectFile } from "./file/read.ts";
import { listTargets } from "./tree.ts";

/**
 * Reads and validates the project file in a folder, and checks that the modules exist. For unpacked packages:
 * `.gitignore` has no effect. A project file that is missing, a folder or too large is a problem.
 *
 * @throws Error when a file cannot be read
 */
export async function loadProject(dir: string): Promise<ParsedProject> {
  const read = await readProjectFile(dir);
  if ("problems" in read) return { definition: null, problems: read.problems };
  return parseProjectFile(read.bytes, { files: new Set(await listTargets(dir)) });
}
