import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseJSONC } from "confbox/jsonc";

const sections = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;

/**
 * Whether a `package.json` in a folder or above it declares a package as a dependency of any kind, or a `deno.json` has it
 * among its imports, where `deno add` writes it. An undeclared package, installed only for another package, may disappear
 * with the next install.
 */
export function isDeclared(packageName: string, folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    const manifest = readManifest(current);
    if (sections.some((section) => hasMember(manifest?.[section], packageName))) return true;
    if (dirname(current) === current) return isDeclaredForDeno(packageName, folder);
  }
}

/** The `package.json` of a folder; null when it does not exist or is not an object. */
function readManifest(folder: string): Record<string, unknown> | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return typeof manifest === "object" && manifest !== null ? (manifest as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Whether a `deno.json` in a folder or above it has a package among its imports. */
export function isDeclaredForDeno(packageName: string, folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    if (hasMember(readDenoConfig(current)?.imports, packageName)) return true;
    if (dirname(current) === current) return false;
  }
}

/** The `deno.json` or `deno.jsonc` of a folder; null when there is none that can be read. */
function readDenoConfig(folder: string): { imports?: unknown } | null {
  const file = ["deno.json", "deno.jsonc"].map((name) => join(folder, name)).find(existsSync);
  if (file === undefined) return null;
  try {
    return parseJSONC(readFileSync(file, "utf8"), { allowTrailingComma: true });
  } catch {
    return null;
  }
}

/** The nearest `package.json` above a file, within its package. */
export function nearestManifest(file: string): Record<string, unknown> | null {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = readManifest(folder);
    if (manifest !== null) return manifest;
    if (folder.endsWith("node_modules") || dirname(folder) === folder) return null;
  }
}

function hasMember(section: unknown, name: string): boolean {
  return typeof section === "object" && section !== null && Object.hasOwn(section, name);
}
