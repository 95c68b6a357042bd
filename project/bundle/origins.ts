import { resolve } from "node:path";
import type { PlacedEntry } from "./manifest.ts";

/** Remembers which import of the project led to each file of its dependencies: the first that did. */
export class Origins {
  readonly #origins = new Map<string, PlacedEntry>();

  begin(entry: PlacedEntry): void {
    this.#origins.set(entry.resolved, this.#origins.get(entry.resolved) ?? entry);
    this.#origins.set(entry.specifier, entry);
  }

  /** Notes that `importer` imports `file`. esbuild comes to every importer before what it imports. */
  follow(importer: string, file: string): void {
    const origin = this.#origins.get(importer);
    if (origin !== undefined && !this.#origins.has(file)) this.#origins.set(file, origin);
  }

  /** `file` as esbuild names it in a complaint: absolute, or from the root, perhaps with its namespace before it. */
  of(file: string, root: string): PlacedEntry | undefined {
    const plain = file.replace(/^commonjs:/, "");
    return this.#origins.get(plain) ?? this.#origins.get(resolve(root, plain));
  }
}
