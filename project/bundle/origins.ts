import { resolve } from "node:path";
import type { PlacedEntry } from "./manifest.ts";

/** Records for each file of a dependency the first import of the project that led to it. */
export class Origins {
  readonly #origins = new Map<string, PlacedEntry>();

  add(entry: PlacedEntry): void {
    this.#origins.set(entry.resolved, this.#origins.get(entry.resolved) ?? entry);
    this.#origins.set(entry.specifier, entry);
  }

  /** Records that `importer` imports `file`. esbuild resolves an importer before its imports. */
  follow(importer: string, file: string): void {
    const origin = this.#origins.get(importer);
    if (origin !== undefined && !this.#origins.has(file)) this.#origins.set(file, origin);
  }

  /** @param file - as in messages of esbuild: absolute or relative to the root, with or without its namespace */
  of(file: string, root: string): PlacedEntry | undefined {
    const path = file.replace(/^commonjs:/, "");
    return this.#origins.get(path) ?? this.#origins.get(resolve(root, path));
  }
}
