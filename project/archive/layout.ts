import { maxProjectFileBytes } from "../limits.ts";
import { PROJECT_FILE } from "../names.ts";
import { PackageError } from "./error.ts";
import { displayPath, fold } from "./paths.ts";
import type { Entry } from "./read.ts";

/** Paths in the root of a package that the server reads or writes, and that must therefore have the right type. */
export interface PackageLayout {
  files: readonly string[];
  folders: readonly string[];
}

/** Checks an entry before its content is read. @throws PackageError */
export function checkLayout({ path, isFolder, sizeBytes }: Entry, { files, folders }: PackageLayout): void {
  const folded = fold(path);
  for (const name of [PROJECT_FILE, ...files]) {
    if (folded.startsWith(`${name}/`) || (isFolder && folded === name)) {
      throw new PackageError(
        "malformed",
        `The package has the folder ${displayPath(name)}, which must be a file.`,
      );
    }
  }
  if (!isFolder && folders.includes(folded)) {
    throw new PackageError(
      "malformed",
      `The package has the file ${displayPath(path)}, which must be a folder.`,
    );
  }
  if (folded === PROJECT_FILE && sizeBytes > maxProjectFileBytes) {
    throw new PackageError(
      "limit",
      `Invalid configuration in ${PROJECT_FILE}: it may hold at most ${maxProjectFileBytes} bytes, not ${sizeBytes}.`,
    );
  }
}
