import { fold } from "../archive/paths.ts";
import type { CollectedFile } from "../package-file.ts";
import { nearestManifest } from "./declared.ts";
import type { NpmImport } from "./scan.ts";

/** An imported specifier and the path of its entry in its package: `v4/mini.mjs` for `zod/v4/mini`. */
export interface PlacedEntry extends NpmImport {
  file: string;
}

/** Assigns a file to each specifier. JSON files keep their extension, which tells runtimes their type. */
export function placeEntries(
  imports: readonly NpmImport[],
  isJson: (item: NpmImport) => boolean,
): PlacedEntry[] {
  const taken = new Set<string>();
  return imports.map((item) => {
    const readable =
      item.subpath === "." ? "index" : item.subpath.slice(2).replace(/[^\w./@+-]|\.{2,}/g, "_");
    const stem = readable.replace(/\.(?:[cm]?[jt]s|json)$/, "");
    const extension = isJson(item) ? ".json" : ".mjs";
    for (let number = 1; ; number++) {
      const file = `${stem}${number === 1 ? "" : `-${number}`}${extension}`;
      const key = fold(`${item.packageName}/${file}`);
      if (taken.has(key)) continue;
      taken.add(key);
      return { ...item, file };
    }
  });
}

/** A `package.json` for each package, which maps the imported subpaths to entries. */
export function manifestFiles(entries: readonly PlacedEntry[]): CollectedFile[] {
  return [...Map.groupBy(entries, (entry) => entry.packageName)].map(([name, ofPackage]) => {
    const version = nearestManifest(ofPackage[0]?.resolved ?? "")?.version;
    const manifest = {
      name,
      ...(typeof version === "string" && { version }),
      type: "module",
      exports: Object.fromEntries(ofPackage.map(({ subpath, file }) => [subpath, `./${file}`])),
    };
    const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    return bundledFile(`node_modules/${name}/package.json`, content);
  });
}

/** A file with generated content. */
export function bundledFile(path: string, content: Uint8Array): CollectedFile {
  return { path, absolutePath: "", sizeBytes: content.byteLength, executable: false, content };
}
