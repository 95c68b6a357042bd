/**
 * Bundles what a project imports from npm into a `node_modules` of the package's own: one entry for each imported
 * specifier, and shared chunks, so that whatever two of them use exists once. What it makes depends on the installed
 * packages and the version of esbuild alone.
 */
import { readFile } from "node:fs/promises";
import { posix, relative, sep } from "node:path";
import type * as Esbuild from "esbuild";
import { type CollectedFile, comparePaths } from "../package-file.ts";
import { isBuiltinModule, withNodePrefix } from "./builtins.ts";
import { formatOf, type ModuleFormat, namedExports, wrapCommonJs } from "./commonjs.ts";
import { build, type FileProblem } from "./esbuild.ts";
import { importProblem } from "./locate.ts";
import { bundledFile, manifestFiles, type PlacedEntry, placeEntries } from "./manifest.ts";
import { addonFilter, needsAddon } from "./native.ts";
import { Origins } from "./origins.ts";
import type { NpmImport } from "./scan.ts";
import { readSpecifier } from "./specifier.ts";

/** Chunks lie in a folder that no package can have. */
const chunkFolder = ".svc-chunks";

/** Marks the modules that stand before CommonJS and show its exports. */
const wrapper = "commonjs";

/** Entries, and what may need a native addon. */
const quickFilter = new RegExp(`^node_modules/|${addonFilter.source}`);

/** What CommonJS has in Node. esbuild renames what modules declare by this name themselves. */
const banner = [
  'import { createRequire as svcCreateRequire } from "node:module";',
  "const require = svcCreateRequire(import.meta.url);",
].join("\n");

const options: Esbuild.BuildOptions = {
  bundle: true,
  splitting: true,
  chunkNames: `${chunkFolder}/[hash]`,
  outExtension: { ".js": ".mjs" },
  // The conditions and fields that Node goes by, and none that only bundlers know.
  conditions: ["module-sync"],
  mainFields: ["main"],
  // Error classes are told apart by name.
  keepNames: true,
  legalComments: "inline",
  banner: { js: banner },
  external: ["svc", "svc/plugin"],
  define: { __dirname: "import.meta.dirname", __filename: "import.meta.filename" },
};

export async function bundleImports(
  esbuild: typeof Esbuild,
  root: string,
  imports: readonly NpmImport[],
  files: readonly CollectedFile[],
): Promise<{ files: CollectedFile[]; problems: FileProblem[] }> {
  if (imports.length === 0) return { files: [], problems: [] };
  const formats = new Map<string, ModuleFormat>();
  for (const { resolved } of imports) formats.set(resolved, await formatOf(resolved));
  const problems: FileProblem[] = [];
  for (const one of imports) {
    if (formats.get(one.resolved) !== "other") continue;
    const addon = one.resolved.endsWith(".node");
    const why = addon ? "it is a native addon, which cannot be deployed" : "it is no module and no JSON";
    problems.push(importProblem(one, files, why));
  }
  if (problems.length > 0) return { files: [], problems };

  const entries = placeEntries(imports, ({ resolved }) => formats.get(resolved) === "json");
  const bundled = manifestFiles(entries);
  const code: PlacedEntry[] = [];
  for (const entry of entries) {
    if (formats.get(entry.resolved) !== "json") code.push(entry);
    else bundled.push(bundledFile(pathOf(entry), await readFile(entry.resolved)));
  }
  // The careful build asks about every import, which takes three times as long: only when there is something to explain.
  let made = await bundleCode(esbuild, { root, entries: code, files, formats, careful: false });
  if (made.problems.length > 0) {
    made = await bundleCode(esbuild, { root, entries: code, files, formats, careful: true });
  }
  bundled.push(...made.files);
  return { files: bundled.toSorted((a, b) => comparePaths(a.path, b.path)), problems: made.problems };
}

interface CodeBundle {
  root: string;
  entries: readonly PlacedEntry[];
  /** Files of the project, to place problems in. */
  files: readonly CollectedFile[];
  formats: ReadonlyMap<string, ModuleFormat>;
  /** Whether to leave for run time what Node would leave for run time, and to find out who needs what is missing. */
  careful: boolean;
}

async function bundleCode(
  esbuild: typeof Esbuild,
  { root, entries, files, formats, careful }: CodeBundle,
): Promise<{ files: CollectedFile[]; problems: FileProblem[] }> {
  const origins = new Origins();
  const byPath = new Map(entries.map((entry) => [pathOf(entry), entry]));
  const built = await build(esbuild, {
    ...options,
    absWorkingDir: root,
    outdir: root,
    entryPoints: entries.map((entry) => ({ in: pathOf(entry), out: pathOf(entry).replace(/\.mjs$/, "") })),
    chunkNames: `node_modules/${chunkFolder}/[hash]`,
    plugins: [
      {
        name: "dependencies",
        setup(plugin) {
          plugin.onResolve({ filter: careful ? /.*/ : quickFilter }, (args) => {
            const entry = args.kind === "entry-point" ? byPath.get(args.path) : undefined;
            if (entry === undefined) return resolveInside(plugin, args, origins);
            origins.begin(entry);
            if (formats.get(entry.resolved) !== "commonjs") return { path: entry.resolved };
            return { path: entry.specifier, namespace: wrapper, pluginData: entry };
          });
          plugin.onLoad({ filter: /.*/, namespace: wrapper }, async ({ pluginData }) => {
            const { resolved } = pluginData as PlacedEntry;
            return { contents: wrapCommonJs(resolved, await namedExports(resolved)), resolveDir: root };
          });
        },
      },
    ],
  });
  const problems = built.failures.map(({ text, location, detail }) => {
    const origin =
      origins.of(typeof detail === "string" ? detail : (location?.file ?? ""), root) ?? entries[0];
    const where = location === null ? "" : ` (${location.file}:${location.line})`;
    if (origin === undefined) throw new Error(text);
    return importProblem(origin, files, `${text}${where}`);
  });
  const made = built.files.map(({ path, contents }) => {
    return bundledFile(relative(root, path).split(sep).join(posix.sep), contents);
  });
  return { files: made, problems };
}

/** What a package imports. Everything that Node would only notice when it runs is left for then. */
async function resolveInside(
  plugin: Esbuild.PluginBuild,
  args: Esbuild.OnResolveArgs,
  origins: Origins,
): Promise<Esbuild.OnResolveResult | undefined> {
  const { path, importer, kind, resolveDir, namespace } = args;
  if (args.pluginData === asked) return undefined;
  if (isBuiltinModule(path)) return { path: withNodePrefix(path), external: true };
  if (readSpecifier(path).kind === "provided") return { path, external: true };
  const result = await plugin.resolve(path, { importer, kind, resolveDir, namespace, pluginData: asked });
  const late = kind === "require-call" || kind === "require-resolve" || kind === "dynamic-import";
  if (result.errors.length > 0) {
    if (late) return { path, external: true };
    return { errors: [{ text: `it needs "${path}", which is not found in node_modules`, detail: importer }] };
  }
  origins.follow(importer, result.path);
  if (needsAddon(path, result.path, importer)) {
    return { errors: [{ text: "it needs a native addon, which cannot be deployed", detail: importer }] };
  }
  return result;
}

/** Marks what this plugin asks esbuild itself. */
const asked = Symbol("asked");

function pathOf(entry: PlacedEntry): string {
  return `node_modules/${entry.packageName}/${entry.file}`;
}
