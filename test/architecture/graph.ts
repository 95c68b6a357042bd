/** The import graph of the sources, read with regular expressions, which rely on Biome's formatting. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { root } from "../support/runtimes.ts";

export interface Import {
  /** Path of the importing file from the root, with `/`. */
  from: string;
  /** Path of the imported file from the root, or the specifier of an npm package or a builtin. */
  to: string;
  /** `value` is a static import, `type` is erased, `lazy` is a dynamic import. */
  kind: "value" | "type" | "lazy";
}

/** The published folders. */
const folders = ["proto", "project", "server", "cli", "client", "plugin"] as const;

const statement = /^(?:import|export)\s+(type\s+)?(?:[\w$*{}\s,]+?\sfrom\s+)?"([^"]+)"/gm;
const expression = /(typeof\s+)?\bimport\(\s*"([^"]+)"\s*,?\s*\)/g;

export const files: readonly string[] = folders
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
  .toSorted();

export const imports: readonly Import[] = files.flatMap((from) => {
  const text = readFileSync(join(root, from), "utf8");
  const found: Import[] = [];
  for (const [, type, specifier = ""] of text.matchAll(statement)) {
    found.push({ from, to: resolve(from, specifier), kind: type === undefined ? "value" : "type" });
  }
  for (const [, type, specifier = ""] of text.matchAll(expression)) {
    found.push({ from, to: resolve(from, specifier), kind: type === undefined ? "lazy" : "type" });
  }
  return found;
});

/** Whether the imported file belongs to this repository. */
export function isOwn({ to }: Import): boolean {
  return folders.some((folder) => to.startsWith(`${folder}/`));
}

/** The files that the entries load statically, including the entries. */
export function loadedBy(entries: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const one of imports) if (one.from === file && one.kind === "value") waiting.push(one.to);
  }
  return seen;
}

/** A cycle of the graph, or null. */
export function findCycle(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] | null => {
    const start = path.indexOf(node);
    if (start >= 0) return [...path.slice(start), node];
    if (done.has(node)) return null;
    path.push(node);
    for (const next of edges.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle !== null) return cycle;
    }
    path.pop();
    done.add(node);
    return null;
  };
  for (const node of edges.keys()) {
    const cycle = visit(node);
    if (cycle !== null) return cycle;
  }
  return null;
}

/** The import graph of groups of files, such as folders. */
export function edgesBy(name: (file: string) => string, some: readonly Import[]): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of some) {
    const [a, b] = [name(from), name(to)];
    if (a === b) continue;
    edges.set(a, (edges.get(a) ?? new Set()).add(b));
  }
  return edges;
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return join(dirname(from), specifier).split(sep).join("/");
}
