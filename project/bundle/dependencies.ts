/**
 * Bundles the npm imports of a project into a `node_modules` folder of its package: one entry for each imported specifier,
 * and chunks for shared code, so that every module exists once. The output depends only on the installed packages and the
 * version of esbuild.
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

/** The folder for chunks. No package can have this name. */
const chunkFolder = ".svc-chunks";

/** The namespace of modules that wrap a CommonJS module. */
const wrapper = "commonjs";

/** Matches entries, and imports that may need a native addon. */
const quickFilter = new RegExp(`^node_modules/|${addonFilter.source}`);

/** Defines `require` for CommonJS. esbuild renames conflicting declarations of modules. */
const banner = [
  'import { createRequire as svcCreateRequire } from "node:module";',
  "const require = svcCreateRequire(import.meta.url);",
].join("\n");

const options: Esbuild.BuildOptions = {
  bundle: true,
  splitting: true,
  chunkNames: `${chunkFolder}/[hash]`,
  outExtension: { ".js": ".mjs" },
  // The conditions and fields that Node uses, without those of bundlers.
  conditions: ["module-sync"],
  mainFields: ["main"],
  // Programs distinguish error classes by name.
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
  for (const item of imports) {
    if (formats.get(item.resolved) !== "other") continue;
    const isAddon = item.resolved.endsWith(".node");
    const reason = isAddon
      ? "it is a native addon, which cannot be deployed"
      : "it is neither a module nor JSON";
    problems.push(importProblem(item, files, reason));
  }
  if (problems.length > 0) return { files: [], problems };

  const entries = placeEntries(imports, ({ resolved }) => formats.get(resolved) === "json");
  const bundled = manifestFiles(entries);
  const code: PlacedEntry[] = [];
  for (const entry of entries) {
    if (formats.get(entry.resolved) !== "json") code.push(entry);
    else bundled.push(bundledFile(pathOf(entry), await readFile(entry.resolved)));
  }
  // Checking every import takes three times as long, so it is done only to explain a failure.
  let output = await bundleCode(esbuild, { root, entries: code, files, formats, checksAll: false });
  if (output.problems.length > 0) {
    output = await bundleCode(esbuild, { root, entries: code, files, formats, checksAll: true });
  }
  bundled.push(...output.files);
  return { files: bundled.toSorted((a, b) => comparePaths(a.path, b.path)), problems: output.problems };
}

interface CodeBundle {
  root: string;
  entries: readonly PlacedEntry[];
  /** Files of the project, for the positions of problems. */
  files: readonly CollectedFile[];
  formats: ReadonlyMap<string, ModuleFormat>;
  /** Whether to check every import: missing optional imports are left to run time, others are traced to their importer. */
  checksAll: boolean;
}

async function bundleCode(
  esbuild: typeof Esbuild,
  { root, entries, files, formats, checksAll }: CodeBundle,
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
          plugin.onResolve({ filter: checksAll ? /.*/ : quickFilter }, (args) => {
            const entry = args.kind === "entry-point" ? byPath.get(args.path) : undefined;
            if (entry === undefined) return resolveInside(plugin, args, origins);
            origins.add(entry);
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
  const outputFiles = built.files.map(({ path, contents }) => {
    return bundledFile(relative(root, path).split(sep).join(posix.sep), contents);
  });
  return { files: outputFiles, problems };
}

/** Resolves an import within a package. Missing imports that Node resolves at run time are left to run time. */
async function resolveInside(
  plugin: Esbuild.PluginBuild,
  args: Esbuild.OnResolveArgs,
  origins: Origins,
): Promise<Esbuild.OnResolveResult | undefined> {
  const { path, importer, kind, resolveDir, namespace } = args;
  if (args.pluginData === ownRequest) return undefined;
  if (isBuiltinModule(path)) return { path: withNodePrefix(path), external: true };
  if (readSpecifier(path).kind === "provided") return { path, external: true };
  const result = await plugin.resolve(path, {
    importer,
    kind,
    resolveDir,
    namespace,
    pluginData: ownRequest,
  });
  const isResolvedAtRunTime =
    kind === "require-call" || kind === "require-resolve" || kind === "dynamic-import";
  if (result.errors.length > 0) {
    if (isResolvedAtRunTime) return { path, external: true };
    return { errors: [{ text: `it needs "${path}", which is not found in node_modules`, detail: importer }] };
  }
  origins.follow(importer, result.path);
  if (needsAddon(path, result.path, importer)) {
    return { errors: [{ text: "it needs a native addon, which cannot be deployed", detail: importer }] };
  }
  return result;
}

/** Marks the calls of `resolve` by this plugin. */
const ownRequest = Symbol("ownRequest");

function pathOf(entry: PlacedEntry): string {
  return `node_modules/${entry.packageName}/${entry.file}`;
}
