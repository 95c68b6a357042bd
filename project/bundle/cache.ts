import { statSync } from "node:fs";
import { join } from "node:path";
import type { CollectedFile } from "../package-file.ts";
import type { NpmImport } from "./scan.ts";

/** Files that every package manager changes when it installs, updates or removes a package. */
const installFiles = [
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "deno.lock",
  "node_modules/.package-lock.json",
  "node_modules/.modules.yaml",
];

/**
 * Keeps the bundle of npm imports between preparations of one project, while the imports and the installed packages are the
 * same. A change of a file within an installed package, other than the imported one, is not noticed.
 */
export class BundleCache {
  #key = "";
  #files: CollectedFile[] = [];

  /** Undefined when the bundle must be made. */
  get(root: string, imports: readonly NpmImport[]): CollectedFile[] | undefined {
    return this.#key !== "" && this.#key === keyOf(root, imports) ? this.#files : undefined;
  }

  set(root: string, imports: readonly NpmImport[], files: CollectedFile[]): void {
    this.#key = keyOf(root, imports);
    this.#files = files;
  }

  /** The next bundle is made again. */
  clear(): void {
    this.#key = "";
  }
}

function keyOf(root: string, imports: readonly NpmImport[]): string {
  const versions = installFiles.map((name) => versionOf(join(root, name)));
  const resolved = imports.map(({ specifier, resolved }) => [specifier, resolved, versionOf(resolved)]);
  return JSON.stringify([root, versions, resolved]);
}

function versionOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
}
