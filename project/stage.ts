import { chmodSync, constants, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { CollectedFile } from "./package-file.ts";

/** Files copied before the event loop gets its turn: some milliseconds. */
const filesAtOnce = 100;

/**
 * Copies files to a folder, as unpacking their package there would, and several times faster: to check or run a project
 * where it is not deployed. The folder is made if need be; it should be empty.
 */
export async function stageFiles(files: readonly CollectedFile[], directory: string): Promise<void> {
  const made = new Set<string>();
  for (const [index, file] of files.entries()) {
    const target = join(directory, file.path);
    const folder = dirname(target);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    const mode = file.executable ? 0o755 : 0o644;
    if (file.content !== undefined) {
      writeFileSync(target, file.content, { mode });
    } else {
      // Where the file system can, the copy shares its blocks with the original until one of them is written to.
      copyFileSync(file.absolutePath, target, constants.COPYFILE_FICLONE);
      chmodSync(target, mode);
    }
    if (index % filesAtOnce === filesAtOnce - 1) await setImmediate();
  }
}
