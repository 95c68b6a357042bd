/** Follows the imports of the deployed modules through the project, and collects its npm imports. */
import { readFile } from "node:fs/promises";
import { extname, join, posix } from "node:path";
import type * as Esbuild from "esbuild";
import type { CollectedFile } from "../package-file.ts";
import { isDeclared, isDeclaredForDeno } from "./declared.ts";
import { isErasable } from "./erasable.ts";
import { build, type FileProblem, problemAt } from "./esbuild.ts";
import { type Found, SharedFiles } from "./shared.ts";
import { readSpecifier } from "./specifier.ts";

/** An import from an npm package. */
export interface NpmImport {
  specifier: string;
  packageName: string;
  /** `.` or `./…`. */
  subpath: string;
  /** The file that it resolves to. */
  resolved: string;
  /** Files of the project that import it, in the order of their paths. */
  importers: string[];
}

export interface Scanned {
  imports: NpmImport[];
  /** Files outside of `agents/` and `workflows/` that are imported. */
  shared: CollectedFile[];
  /** Modules that must be compiled. */
  notErasable: CollectedFile[];
  problems: FileProblem[];
}

const namespace = "project";
const entryPrefix = "deployed:";
const loaders: Record<string, Esbuild.Loader> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".js": "js",
  ".mjs": "js",
  ".cjs": "js",
  ".json": "json",
};

/**
 * @param root - the project's folder, absolute
 * @param modules - paths of the modules of the agents and workflows
 */
export async function scanImports(
  esbuild: typeof Esbuild,
  root: string,
  modules: readonly string[],
  files: readonly CollectedFile[],
): Promise<Scanned> {
  const scan = new Scan(root, files);
  const { failures } = await build(esbuild, {
    absWorkingDir: root,
    // The prefix keeps esbuild from making the paths absolute.
    entryPoints: modules.map((module) => `${entryPrefix}${module}`),
    bundle: true,
    outdir: "scan",
    // Keeps imports that only types use, because runtimes that strip types keep them too.
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    plugins: [{ name: "scan", setup: (plugin) => scan.setUp(plugin) }],
  });
  const problems = failures.map(({ text, location }) => {
    const file = location?.file.replace(`${namespace}:`, "") ?? "";
    return location === null ? unplaced(text) : problemAt(location, file, text);
  });
  const { shared, notErasable } = scan;
  return { imports: scan.imports(), shared: shared.files, notErasable: [...notErasable.values()], problems };
}

class Scan {
  readonly #root: string;
  readonly #files: ReadonlyMap<string, CollectedFile>;
  readonly #imports = new Map<string, NpmImport>();
  readonly shared: SharedFiles;
  readonly notErasable = new Map<string, CollectedFile>();

  constructor(root: string, files: readonly CollectedFile[]) {
    this.#root = root;
    this.shared = new SharedFiles(root);
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  imports(): NpmImport[] {
    const imports = [...this.#imports.values()].toSorted((a, b) => (a.specifier < b.specifier ? -1 : 1));
    return imports.map((item) => ({ ...item, importers: item.importers.toSorted() }));
  }

  setUp(plugin: Esbuild.PluginBuild): void {
    plugin.onResolve({ filter: /.*/ }, (args) => {
      if (args.kind === "entry-point") return { path: args.path.slice(entryPrefix.length), namespace };
      // An import within a package, from `plugin.resolve` below.
      if (args.namespace !== namespace) return undefined;
      return this.#resolve(plugin, args);
    });
    plugin.onLoad({ filter: /.*/, namespace }, async ({ path }) => {
      const loader = loaders[extname(path)];
      if (loader === undefined) {
        return {
          errors: [{ text: `cannot import "${path}": modules are ${Object.keys(loaders).join(", ")}` }],
        };
      }
      const file = this.#files.get(path) ?? fileOf(this.shared.find(path));
      const contents = await readFile(file?.absolutePath ?? "", "utf8");
      if (loader === "ts" && file !== undefined && !path.endsWith(".cts") && !isErasable(contents)) {
        this.notErasable.set(path, file);
      }
      return { contents, loader };
    });
  }

  async #resolve(plugin: Esbuild.PluginBuild, args: Esbuild.OnResolveArgs): Promise<Esbuild.OnResolveResult> {
    const specifier = readSpecifier(args.path);
    if (specifier.kind === "provided") return { path: args.path, external: true };
    if (specifier.kind === "rejected") return cannotImport(args.path, specifier.reason);
    if (specifier.kind === "file") return this.#resolveFile(args, specifier.path);
    const folder = join(this.#root, posix.dirname(args.importer));
    const kind = args.kind === "dynamic-import" ? "import-statement" : args.kind;
    const { path, errors } = await plugin.resolve(args.path, { resolveDir: folder, kind, namespace: "file" });
    if (errors.length > 0)
      return cannotImport(args.path, this.#missingReason(specifier.name, specifier.subpath, folder));
    if (!isDeclared(specifier.name, folder)) {
      return cannotImport(args.path, `package.json does not name ${specifier.name} among its dependencies`);
    }
    // Read after the await: another import of the package may have been resolved in the meantime.
    const known = this.#imports.get(args.path);
    if (known !== undefined && known.resolved !== path) {
      return cannotImport(
        args.path,
        `it resolves to a different copy than the import in ${known.importers[0]}`,
      );
    }
    if (known === undefined) {
      const { name: packageName, subpath } = specifier;
      const importers = [args.importer];
      this.#imports.set(args.path, { specifier: args.path, packageName, subpath, resolved: path, importers });
    } else if (!known.importers.includes(args.importer)) {
      known.importers.push(args.importer);
    }
    return { path: args.path, external: true };
  }

  #missingReason(packageName: string, subpath: string, folder: string): string {
    if (!isDeclared(packageName, folder))
      return "no such package is installed; add it to package.json and install it";
    const target = subpath === "." ? packageName : `${packageName} with ${subpath}`;
    const isForDeno = isDeclaredForDeno(packageName, folder);
    const install = isForDeno
      ? 'set "nodeModulesDir" to "auto" in deno.json and run `deno install`'
      : "install the project's dependencies";
    return `${target} is not found in node_modules; ${install}`;
  }

  #resolveFile(args: Esbuild.OnResolveArgs, relative: string): Esbuild.OnResolveResult {
    const path = posix.join(posix.dirname(args.importer), relative);
    if (this.#files.has(path)) return { path, namespace };
    const shared = this.shared.find(path);
    if (shared !== null && "reason" in shared) return cannotImport(args.path, shared.reason);
    if (shared !== null) return { path, namespace };
    const intended = candidates(path).find(
      (candidate) => this.#files.has(candidate) || fileOf(this.shared.find(candidate)) !== undefined,
    );
    if (intended === undefined)
      return cannotImport(args.path, `${path} does not exist or is ignored by .gitignore`);
    const written = posix.relative(posix.dirname(args.importer), intended);
    return cannotImport(args.path, `write "${written.startsWith(".") ? written : `./${written}`}"`);
  }
}

function fileOf(found: Found): CollectedFile | undefined {
  return found !== null && "file" in found ? found.file : undefined;
}

/** The files that other tools would try for a path without a file. */
function candidates(path: string): string[] {
  const stem = path.replace(/\.([cm]?)js$/, "");
  const extensions = Object.keys(loaders);
  return [
    ...extensions.map((extension) => `${path}${extension}`),
    ...(stem === path ? [] : extensions.map((extension) => `${stem}${extension}`)),
    ...extensions.map((extension) => posix.join(path, `index${extension}`)),
  ];
}

function cannotImport(specifier: string, reason: string): Esbuild.OnResolveResult {
  return { errors: [{ text: `cannot import "${specifier}": ${reason}` }] };
}

function unplaced(message: string): FileProblem {
  return { file: "agents", line: 0, column: 0, message, source: "" };
}
