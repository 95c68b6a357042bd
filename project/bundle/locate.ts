import { readFileSync } from "node:fs";
import type { CollectedFile } from "../package-file.ts";
import type { FileProblem } from "./esbuild.ts";
import type { NpmImport } from "./scan.ts";

/** A problem of an import, placed where its first importer names it. */
export function importProblem(
  { specifier, importers }: NpmImport,
  files: readonly CollectedFile[],
  why: string,
): FileProblem {
  const file = importers[0] ?? "";
  const message = `cannot import "${specifier}": ${why}`;
  const path = files.find((candidate) => candidate.path === file)?.absolutePath;
  const lines = path === undefined ? [] : readFileSync(path, "utf8").split(/\r?\n/);
  const quotes = [`"${specifier}"`, `'${specifier}'`, `\`${specifier}\``];
  for (const [index, source] of lines.entries()) {
    const column = Math.max(...quotes.map((quoted) => source.indexOf(quoted)));
    // The other problems of imports point at the quotation mark, too.
    if (column >= 0) return { file, line: index + 1, column: column + 1, message, source };
  }
  return { file, line: 0, column: 0, message, source: "" };
}
