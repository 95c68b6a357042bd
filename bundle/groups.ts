/**
 * Decides which modules are bundled together. esbuild makes a file of each module that is imported dynamically, and one
 * of each set of modules that some of these share: 220 files, of which `svc status` loads 49. Here, a dynamic import of a
 * group's module becomes an import of the group, which evaluates that module; all other dynamic imports evaluate a part
 * of the same file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { Plugin } from "esbuild";

/** Dynamic imports, but no types such as `typeof import("…")`. */
const dynamicImport = /(?<!typeof\s+)\bimport\(\s*"([^"]+)"\s*,?\s*\)/g;

export interface Groups {
  /** The folder of the sources. */
  root: string;
  /** Folders in `root` that are bundled. */
  folders: readonly string[];
  /** Patterns of paths in `root`, by the name of their group. */
  groups: Readonly<Record<string, RegExp>>;
  external: readonly string[];
}

export function groupModules({ root, folders, groups, external }: Groups): Plugin {
  const pathOf = (importer: string, specifier: string): string =>
    relative(root, join(dirname(importer), specifier))
      .split(sep)
      .join("/");
  const groupOf = (path: string): string | undefined =>
    Object.keys(groups).find((name) => groups[name]?.test(path));

  const members = new Map<string, Set<string>>(Object.keys(groups).map((name) => [name, new Set()]));
  for (const file of folders.flatMap((folder) => sourcesIn(join(root, folder)))) {
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(dynamicImport)) {
      const path = pathOf(file, specifier);
      if (specifier.startsWith(".")) members.get(groupOf(path) ?? "")?.add(path);
    }
  }

  return {
    name: "groups",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.includes("node_modules")) return undefined;
        const text = readFileSync(path, "utf8");
        const contents = text.replace(dynamicImport, (whole, specifier: string) => {
          if (external.includes(specifier) || specifier.startsWith("node:")) return whole;
          const target = pathOf(path, specifier);
          const group = specifier.startsWith(".") ? groupOf(target) : undefined;
          return group === undefined || group === groupOf(relative(root, path))
            ? `Promise.resolve().then(() => require("${specifier}"))`
            : `import("group:${group}").then((group) => group.modules["${target}"]())`;
        });
        return { loader: "ts", contents: withOwnUrl(contents, relative(root, path)) };
      });

      build.onLoad({ filter: /[\\/]node_modules[\\/].+\.[cm]?js$/ }, ({ path }) => {
        if (!readFileSync(path, "utf8").includes("import.meta.url")) return undefined;
        return { errors: [{ text: "This package finds files by its own URL: make it external." }] };
      });

      build.onResolve({ filter: /^group:/ }, ({ path }) => ({ path: path.slice(6), namespace: "group" }));
      build.onLoad({ filter: /./, namespace: "group" }, ({ path }) => {
        const lines = [...(members.get(path) ?? [])].map((file) => `"${file}": () => require("./${file}"),`);
        return { resolveDir: root, contents: `export const modules = {\n${lines.join("\n")}\n};` };
      });

      // A `require` would find the CommonJS build of a package, next to that which the imports find.
      build.onResolve({ filter: /^[@a-z]/ }, ({ path, kind, resolveDir }) => {
        const isOwn = !resolveDir.includes("node_modules") && !external.includes(path);
        if (kind !== "require-call" || !isOwn || path.startsWith("node:")) return undefined;
        return build.resolve(path, { kind: "import-statement", resolveDir });
      });
    },
  };
}

/** The source's `import.meta.url` stays that of its compiled file, from which it finds other files of the package. */
function withOwnUrl(contents: string, path: string): string {
  if (!contents.includes("import.meta.url")) return contents;
  const compiled = JSON.stringify(`../${path.replace(/\.ts$/, ".js")}`);
  // On the first line, so that the other lines keep their numbers.
  return `const svcModuleUrl = new URL(${compiled}, svcFileUrl).href; ${contents}`;
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith("_pb.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}
