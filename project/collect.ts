/** Finds the files of a project that are deployed. */
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join, sep } from "node:path";
import { fold } from "./archive/paths.ts";
import { IgnoreRules } from "./gitignore/rules.ts";
import { PROJECT_FILE } from "./names.ts";
import { type CollectedFile, comparePaths } from "./package-file.ts";
import { TARGET_FOLDERS } from "./tree.ts";

export type { CollectedFile } from "./package-file.ts";

/** Thrown when files cannot be deployed as they are: links that leave the project, names that clash. */
export class CollectError extends Error {
  override readonly name: string = "CollectError";
  /** Every one of them, in order of their paths. */
  readonly mistakes: readonly { path: string; message: string }[];

  /** What could be collected. */
  readonly files: readonly CollectedFile[];

  constructor(mistakes: readonly { path: string; message: string }[], files: readonly CollectedFile[]) {
    super(mistakes.map(({ path, message }) => `${path}: ${message}`).join("\n"));
    this.mistakes = mistakes;
    this.files = files;
  }
}

/**
 * The project file and what is in `agents/` and `workflows/`, as far as git would list it: without what `.gitignore`
 * files, `.git/info/exclude` and the user's own exclude file name, and without `.git`. Tracked files count like others.
 * Sorted by path. git itself is not needed. The project file is there even if it is ignored; it may be missing.
 *
 * Links within the project are followed, and the content of what they lead to is deployed under the link's path. Empty
 * folders, sockets and devices are left out.
 *
 * @throws CollectError
 */
export async function collectProject(root: string): Promise<CollectedFile[]> {
  const realRoot = realpathSync(root);
  const walk: Walk = { realRoot, files: [], mistakes: [] };
  const wanted = new Set<string>([PROJECT_FILE, ...TARGET_FOLDERS]);
  const rules = IgnoreRules.forProject(realRoot);
  for (const entry of readdirSync(realRoot, { withFileTypes: true })) {
    if (!wanted.has(entry.name)) continue;
    // The project file is what makes the package; ignoring it cannot be meant.
    if (entry.name === PROJECT_FILE) addLeaf(walk, entry, PROJECT_FILE, realRoot, rules, [realRoot]);
    else addEntry(walk, entry, "", realRoot, rules, [realRoot]);
  }
  walk.files.sort((a, b) => comparePaths(a.path, b.path));
  findClashes(walk);
  if (walk.mistakes.length > 0) {
    const mistakes = walk.mistakes.toSorted((a, b) => comparePaths(a.path, b.path));
    throw new CollectError(mistakes, walk.files);
  }
  return walk.files;
}

interface Walk {
  realRoot: string;
  files: CollectedFile[];
  mistakes: { path: string; message: string }[];
}

/** `ancestors` are the real paths of the folders around, to notice a link that leads back into one of them. */
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
    walk.mistakes.push({ path, message: missing(entry) });
  } else if (entry.isSymbolicLink()) {
    addLink(walk, path, absolutePath, stats, rules, ancestors);
  } else {
    addFile(walk, path, absolutePath, stats);
  }
}

/** Undefined when there is nothing, or a link that leads to itself. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP") return undefined;
    throw error;
  }
}

function missing(entry: Dirent): string {
  if (entry.isSymbolicLink()) return "the link leads nowhere";
  return entry.name.includes("\ufffd")
    ? "the name is not UTF-8"
    : "the file was removed while it was looked at";
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
  const report = (message: string): void => void walk.mistakes.push({ path, message });
  if (!`${target}${sep}`.startsWith(`${walk.realRoot}${sep}`)) {
    report("the link leaves the project: copy what it leads to, or ignore it");
  } else if (stats.isFile()) {
    addFile(walk, path, absolutePath, stats);
  } else if (stats.isDirectory() && path !== PROJECT_FILE) {
    const loop = ancestors.some((ancestor) => ancestor === target || ancestor.startsWith(`${target}${sep}`));
    if (loop) report("the link leads to a folder that it lies in");
    else addFolder(walk, path, target, rules, [...ancestors, target]);
  }
}

/** Files that would be one on a disk that does not tell case apart; the server refuses such packages. */
function findClashes(walk: Walk): void {
  const spellings = new Map<string, string>();
  const folders = new Set<string>();
  const claim = (path: string): void => {
    const earlier = spellings.get(fold(path));
    if (earlier === undefined) spellings.set(fold(path), path);
    else if (earlier !== path) {
      const message = `differs from ${earlier} only in case or composition, which some file systems cannot hold`;
      walk.mistakes.push({ path, message });
    }
  };
  const claimFolder = (path: string): void => {
    if (path === "" || folders.has(path)) return;
    folders.add(path);
    claimFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    claim(path);
  };
  for (const { path } of walk.files) {
    claimFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    claim(path);
  }
}
