/** Positions in the sources of modules that were compiled at push. Their source maps are in the folder `.svc-maps`. */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";

const mapFolder = ".svc-maps";
/** A position of a module of the package, as stacks name it. */
const position = /([^\s():]+\.m?ts):(\d+):(\d+)/g;

export class SourceMaps {
  readonly #folder: string | null;
  readonly #maps = new Map<string, SourceMap | null>();

  /** @param directory - the package */
  constructor(directory: string) {
    const folder = join(directory, mapFolder);
    // Most packages have no compiled modules.
    this.#folder = existsSync(folder) ? folder : null;
  }

  /** Replaces the positions of compiled modules in a text, whose paths are relative to the package. */
  apply(text: string): string {
    if (this.#folder === null || !text.includes("ts:")) return text;
    return text.replaceAll(position, (match, path: string, line: string, column: string) => {
      const found = this.#find(path, Number(line), Number(column));
      return found === null ? match : `${path}:${found.line}:${found.column}`;
    });
  }

  /** The line in the source of a position in a compiled module. */
  lineOf(path: string, line: number, column: number): number {
    return this.#find(path, line, column)?.line ?? line;
  }

  #find(path: string, line: number, column: number): { line: number; column: number } | null {
    const entry = this.#mapOf(path)?.findEntry(line - 1, column - 1);
    if (entry === undefined || !("originalLine" in entry)) return null;
    const { originalLine, originalColumn } = entry as { originalLine?: number; originalColumn?: number };
    if (originalLine === undefined || originalColumn === undefined) return null;
    return { line: originalLine + 1, column: originalColumn + 1 };
  }

  #mapOf(path: string): SourceMap | null {
    const known = this.#maps.get(path);
    if (known !== undefined) return known;
    let map: SourceMap | null = null;
    try {
      if (this.#folder !== null) {
        map = new SourceMap(JSON.parse(readFileSync(join(this.#folder, `${path}.map`), "utf8")));
      }
    } catch {
      // The module was not compiled.
    }
    this.#maps.set(path, map);
    return map;
  }
}
