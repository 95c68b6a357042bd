import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The folders of a project whose files are deployed. */
export const TARGET_FOLDERS = ["agents", "workflows"] as const;

/** All regular files under `agents/` and `workflows/`, relative to the project and with `/`. Does not follow links. */
export async function listTargets(dir: string): Promise<string[]> {
  const found: string[] = [];
  const queue: string[] = [...TARGET_FOLDERS];
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const entry of await entriesOf(join(dir, folder))) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) queue.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
