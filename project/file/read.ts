import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { maxProjectFileBytes } from "../limits.ts";
import { PROJECT_FILE } from "../names.ts";
import type { Problem } from "../problem.ts";
import { sizeProblem } from "./source.ts";

/**
 * Reads the project file in a folder. Checks its type and size first, so that a file over the limit is never in memory.
 *
 * @throws Error when the file cannot be read
 */
export async function readProjectFile(dir: string): Promise<{ bytes: Uint8Array } | { problems: [Problem] }> {
  const path = join(dir, PROJECT_FILE);
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (stats === null) return { problems: [ofWholeFile("there is no such file in this folder")] };
  if (!stats.isFile()) return { problems: [ofWholeFile("it is not a file")] };
  if (stats.size > maxProjectFileBytes) return { problems: [ofWholeFile(sizeProblem(stats.size))] };
  return { bytes: await readFile(path) };
}

function ofWholeFile(message: string): Problem {
  return { line: 0, column: 0, message, source: "" };
}
