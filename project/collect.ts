/** Collects the files of a project for its package. */
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join, sep } from "node:path";
import { fold } from "./archive/paths.ts";
import { IgnoreRules } from "./gitignore/rules.ts";
import { PROJECT_FILE } from "./names.ts";
import { type CollectedFile, comparePaths } from "./package-file.ts";
import { TARGET_FOLDERS } from "./tree.ts";

export type { CollectedFile } from "./package-file.ts";

/** Some files cannot be deployed: a link leaves the project, or names conflict. */
export class CollectError extends Error {
  override readonly name: string = "CollectError";
  /** All problems, in the order of their paths. */
  readonly problems: readonly { path: string; message: string }[];

  /** The files without problems. */
  readonly files: readonly CollectedFile[];

  constructor(problems: readonly { path: string; message: string }[], files: readonly CollectedFile[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
    this.problems = problems;
    this.files = files;
  }
}

/**
 * The project file and the files in `agents/` and `workflows/`, sorted by path. Leaves out `.git` and all files ignored by
 * `.gitignore` files, `.git/info/exclude` or the user's exclude file, even when they are tracked. Does not need git. The
 * project file cannot be ignored, and may be missing.
 *
 * Follows links within the project: the content of the target is deployed under the link's path. Leaves out empty folders,
 * sockets and devices.
 *
 * @throws CollectError
 */
export async function collectProject(root: string): Promise<CollectedFile[]> {
  const realRoot = realpathSync(root);
  const walk: Walk = { realRoot, files: [], problems: [] };
  const wanted = new Set<string>([PROJECT_FILE, ...TARGET_FOLDERS]);
  const rules = IgnoreRules.forProject(realRoot);
  for (const entry of readdirSync(realRoot, { withFileTypes: true })) {
    if (!wanted.has(entry.name)) continue;
    // A project cannot be deployed without its project file, so ignoring it has no effect.
    if (entry.name === PROJECT_FILE) addLeaf(walk, entry, PROJECT_FILE, realRoot, rules, [realRoot]);
    else addEntry(walk, entry, "", realRoot, rules, [realRoot]);
  }
  walk.files.sort((a, b) => comparePaths(a.path, b.path));
  findConflicts(walk);
  if (walk.problems.length > 0) {
    const problems = walk.problems.toSorted((a, b) => comparePaths(a.path, b.path));
    throw new CollectError(problems, walk.files);
  }
  return walk.files;
}

interface Walk {
  realRoot: string;
  files: CollectedFile[];
  problems: { path: string; message: string }[];
}

/** `ancestors` are the real paths of the containing folders, to detect a link to one of them. */
function addFolder(
  walk: Walk,
  path: string,
  absolutePath: string,
  rules: IgnoreRules,
  ancestors: readonly string[],
): void {
  const entries = readdirSync(absolutePath, { withFileTypes: true });
  const hasRules = entries.some((entry) => entry.name === ".gitignore");
  const name = path.slice(path.lastIndexOf("/") + 1);
  const inner = rules.enter(name, absolutePath, hasRules);
  for (const entry of entries) addEntry(walk, entry, `${path}/`, absolutePath, inner, ancestors);
}

function addEntry(
  walk: Walk,
  entry: Dirent,
  prefix: string,
  folder: string,
  rules: IgnoreRules,
  ancestors: readonly string[],
): void {
  const { name } = entry;
  if (name === ".git" || rules.ignores(name, entry.isDirectory())) return;
  const path = prefix + name;
  if (entry.isDirectory()) {
    const absolutePath = join(folder, name);
    addFolder(walk, path, absolutePath, rules, [...ancestors, absolutePath]);
  } else if (entry.isFile() || entry.isSymbolicLink()) {
    addLeaf(walk, entry, path, folder, rules, ancestors);
  }
}

function addLeaf(
  walk: Walk,
  entry: Dirent,
  path: string,
  folder: string,
  rules: IgnoreRules,
  ancestors: readonly string[],
): void {
  const absolutePath = join(folder, entry.name);
  const stats = statOf(absolutePath);
  if (stats === undefined) {
    walk.problems.push({ path, message: missing(entry) });
  } else if (entry.isSymbolicLink()) {
    addLink(walk, path, absolutePath, stats, rules, ancestors);
  } else {
    addFile(walk, path, absolutePath, stats);
  }
}

/** Undefined when the file does not exist or is a link to itself. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") return undefined;
    throw error;
  }
}

function missing(entry: Dirent): string {
  if (entry.isSymbolicLink()) return "the target of the link does not exist";
  return entry.name.includes("\ufffd")
    ? "the name is not UTF-8"
    : "the file was removed while the project was read";
}

function addFile(walk: Walk, path: string, absolutePath: string, stats: Stats): void {
  const executable = (stats.mode & 0o100) !== 0;
  walk.files.push({ path, absolutePath, sizeBytes: stats.size, executable });
}

function addLink(
  walk: Walk,
  path: string,
  absolutePath: string,
  stats: Stats,
  rules: IgnoreRules,
  ancestors: readonly string[],
): void {
  const target = realpathSync(absolutePath);
  const report = (message: string): void => void walk.problems.push({ path, message });
  if (!`${target}${sep}`.startsWith(`${walk.realRoot}${sep}`)) {
    report("the link leaves the project; copy its target into the project, or ignore the link");
  } else if (stats.isFile()) {
    addFile(walk, path, absolutePath, stats);
  } else if (stats.isDirectory() && path !== PROJECT_FILE) {
    const loop = ancestors.some((ancestor) => ancestor === target || ancestor.startsWith(`${target}${sep}`));
    if (loop) report("the link leads to a folder that contains it");
    else addFolder(walk, path, target, rules, [...ancestors, target]);
  }
}

/** Reports paths that a file system without case distinction treats as one. The server rejects such packages. */
function findConflicts(walk: Walk): void {
  const spellings = new Map<string, string>();
  const folders = new Set<string>();
  const add = (path: string): void => {
    const existing = spellings.get(fold(path));
    if (existing === undefined) spellings.set(fold(path), path);
    else if (existing !== path) {
      const message = `differs from ${existing} only in case or composition, which some file systems cannot hold`;
      walk.problems.push({ path, message });
    }
  };
  const addParents = (path: string): void => {
    if (path === "" || folders.has(path)) return;
    folders.add(path);
    addParents(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    add(path);
  };
  for (const { path } of walk.files) {
    addParents(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    add(path);
  }
}
