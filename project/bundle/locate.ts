import { readFileSync } from "node:fs";
import type { CollectedFile } from "../package-file.ts";
import type { FileProblem } from "./esbuild.ts";
import type { NpmImport } from "./scan.ts";

/** A problem of an import, at the specifier in the first file that imports it. */
export function importProblem(
  { specifier, importers }: NpmImport,
  files: readonly CollectedFile[],
  reason: string,
): FileProblem {
  const file = importers[0] ?? "";
  const message = `cannot import "${specifier}": ${reason}`;
  const path = files.find((candidate) => candidate.path === file)?.absolutePath;
  const lines = path === undefined ? [] : readFileSync(path, "utf8").split(/\r?\n/);
  const quotes = [`"${specifier}"`, `'${specifier}'`, `\`${specifier}\``];
  for (const [index, source] of lines.entries()) {
    const column = Math.max(...quotes.map((quoted) => source.indexOf(quoted)));
    // As in problems reported by esbuild, the column is that of the quotation mark.
    if (column >= 0) return { file, line: index + 1, column: column + 1, message, source };
  }
  return { file, line: 0, column: 0, message, source: "" };
}
