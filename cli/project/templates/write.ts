import { mkdir, open, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CliError } from "../../app/errors.ts";

/** Files that other tools and repository templates create. An existing one stays as it is. */
const shared: readonly string[] = ["package.json", "tsconfig.json", ".gitignore", ".env.example"];

/**
 * Writes the files of a new project. Never overwrites a file.
 *
 * @param root - absolute
 * @param typed - the folder as the user wrote it, for messages
 * @throws CliError when a file of the project exists; then no file is written
 */
export async function writeProject(
  root: string,
  files: Readonly<Record<string, string>>,
  typed: string,
): Promise<{ written: string[]; kept: string[] }> {
  const existing = await existingFiles(root, Object.keys(files), typed);
  const conflicts = existing.filter((path) => !shared.includes(path));
  if (conflicts.length > 0) {
    const verb = conflicts.length === 1 ? "exists" : "exist";
    throw cannotCreate(typed, `${conflicts.join(", ")} already ${verb}`);
  }
  const written = Object.keys(files).filter((path) => !existing.includes(path));
  for (const path of written) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    // `wx` does not overwrite a file that has appeared since the check.
    await using handle = await open(file, "wx");
    await handle.writeFile(files[path] ?? "");
  }
  return { written, kept: existing };
}

async function existingFiles(root: string, paths: readonly string[], typed: string): Promise<string[]> {
  const existing: string[] = [];
  for (const path of paths) {
    const names = await readdir(dirname(join(root, path))).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code === "ENOENT") return [];
      throw cannotCreate(
        typed,
        error.code === "ENOTDIR" ? "part of the path is a file" : error.message,
        error,
      );
    });
    if (names.includes(basename(path))) existing.push(path);
  }
  return existing;
}

function cannotCreate(typed: string, reason: string, cause?: unknown): CliError {
  return new CliError(
    `Cannot create a project in ${typed}: ${reason}.`,
    "No file was written. Choose another folder: `svc init <dir>`.",
    { cause },
  );
}
