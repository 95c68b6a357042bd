/** Checks a project and collects the files for its package. Loads esbuild. */
import { realpathSync } from "node:fs";
import type { BundleCache } from "./bundle/cache.ts";
import { compileModules } from "./bundle/compile.ts";
import { bundleImports } from "./bundle/dependencies.ts";
import { type FileProblem, withEsbuild } from "./bundle/esbuild.ts";
import { scanImports } from "./bundle/scan.ts";
import { CollectError, collectProject } from "./collect.ts";
import type { ProjectDefinition } from "./definition.ts";
import { PROJECT_FILE, parseProjectFile } from "./file/parse.ts";
import { readProjectFile } from "./file/read.ts";
import { type CollectedFile, comparePaths } from "./package-file.ts";
import type { Problem } from "./problem.ts";

export type { FileProblem } from "./bundle/esbuild.ts";

export type PreparedProject =
  | {
      definition: ProjectDefinition;
      /**
       * The files for the package, in the order of their paths: the project's files, the files that they import from other
       * folders of the project, and the bundled npm imports.
       */
      files: CollectedFile[];
      /** The number of bundled files among `files`. */
      bundledCount: number;
      problems: [];
    }
  | { definition: null; files: CollectedFile[]; bundledCount: 0; problems: FileProblem[] };

/**
 * Reads the project in a folder: its project file, its files, their imports, and the imported npm packages. Runs no code
 * of the project. Reports all problems at once, except that imports are checked only when the project file is valid.
 *
 * @param cache - of earlier calls for the same project
 * @throws Error when files cannot be read
 */
export async function prepareProject(root: string, cache?: BundleCache): Promise<PreparedProject> {
  const folder = realpathSync(root);
  const collected = await collect(folder);
  const read = await readProjectFile(folder);
  if ("problems" in read) return failed(collected.files, inProjectFile(read.problems));
  const paths = new Set(collected.files.map((file) => file.path));
  const parsed = parseProjectFile(read.bytes, { files: paths });
  const problems = [...collected.problems, ...inProjectFile(parsed.problems)];
  if (parsed.definition === null || problems.length > 0) return failed(collected.files, problems);
  const { definition } = parsed;
  const modules = [...definition.agents, ...definition.workflows].map((target) => target.module);
  const bundled = await bundle(folder, modules, collected.files, cache);
  if (bundled.problems.length > 0) return failed(collected.files, bundled.problems);
  const compiled = new Set(bundled.compiled.map(({ path }) => path));
  const own = [...collected.files, ...bundled.shared].filter(({ path }) => !compiled.has(path));
  const files = [...own, ...bundled.compiled, ...bundled.files].toSorted((a, b) =>
    comparePaths(a.path, b.path),
  );
  return { definition, files, bundledCount: bundled.files.length, problems: [] };
}

async function collect(folder: string): Promise<{ files: CollectedFile[]; problems: FileProblem[] }> {
  try {
    return { files: await collectProject(folder), problems: [] };
  } catch (error) {
    if (!(error instanceof CollectError)) throw error;
    return {
      files: [...error.files],
      problems: error.problems.map(({ path, message }) => fileProblem(path, message)),
    };
  }
}

interface Bundled {
  /** The npm imports. */
  files: CollectedFile[];
  shared: CollectedFile[];
  /** Compiled modules, in place of their sources, and their source maps. */
  compiled: CollectedFile[];
  problems: FileProblem[];
}

async function bundle(
  folder: string,
  modules: readonly string[],
  files: readonly CollectedFile[],
  cache: BundleCache | undefined,
): Promise<Bundled> {
  if (modules.length === 0) return { files: [], shared: [], compiled: [], problems: [] };
  return withEsbuild(async (esbuild) => {
    const { imports, shared, notErasable, problems } = await scanImports(esbuild, folder, modules, files);
    if (problems.length > 0) return { files: [], shared, compiled: [], problems };
    const compiled = await compileModules(esbuild, folder, notErasable);
    const cached = cache?.get(folder, imports);
    if (cached !== undefined) return { files: cached, shared, compiled, problems: [] };
    const bundled = await bundleImports(esbuild, folder, imports, [...files, ...shared]);
    if (bundled.problems.length === 0) cache?.set(folder, imports, bundled.files);
    return { ...bundled, shared, compiled };
  });
}

function failed(files: CollectedFile[], problems: FileProblem[]): PreparedProject {
  return { definition: null, files, bundledCount: 0, problems };
}

function inProjectFile(problems: readonly Problem[]): FileProblem[] {
  return problems.map((problem) => ({ file: PROJECT_FILE, ...problem }));
}

/** A problem of a whole file. */
function fileProblem(file: string, message: string): FileProblem {
  return { file, line: 0, column: 0, message, source: "" };
}
