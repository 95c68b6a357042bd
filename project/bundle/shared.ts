/** Files of the project outside of `agents/` and `workflows/` that deployed modules import. They are deployed too. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { IgnoreRules } from "../gitignore/rules.ts";
import { type CollectedFile, comparePaths } from "../package-file.ts";
import { TARGET_FOLDERS } from "../tree.ts";

/** Files that would change how a runtime runs the package. */
const notDeployed = ["package.json", "deno.json", "deno.jsonc", "bunfig.toml"];

export type Found = { file: CollectedFile } | { reason: string } | null;

export class SharedFiles {
  /** The real path of the project. */
  readonly #root: string;
  readonly #found = new Map<string, CollectedFile>();

  constructor(root: string) {
    this.#root = root;
  }

  /** The files that were found, in the order of their paths. */
  get files(): CollectedFile[] {
    return [...this.#found.values()].toSorted((a, b) => comparePaths(a.path, b.path));
  }

  /**
   * Finds a file for the package.
   *
   * @param path - relative to the project, normalized and with `/`
   * @returns the reason why it cannot be deployed; null when it does not exist, is ignored, or is collected anyway
   */
  find(path: string): Found {
    const known = this.#found.get(path);
    if (known !== undefined) return { file: known };
    const segments = path.split("/");
    const [top = ""] = segments;
    if (top === "..") return { reason: "it leaves the project, and only files of the project are deployed" };
    if ((TARGET_FOLDERS as readonly string[]).includes(top)) return null;
    if (notDeployed.includes(path)) return { reason: `the ${path} of the project is not deployed` };
    const hidden = segments.find((name) => name.startsWith(".") || name === "node_modules");
    if (hidden !== undefined) return { reason: `files in ${hidden} are not deployed` };
    const absolutePath = join(this.#root, path);
    const stats = statSync(absolutePath, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || this.#isIgnored(segments)) return null;
    if (!realpathSync(absolutePath).startsWith(`${this.#root}${sep}`)) {
      return { reason: "the link leaves the project; copy its target into the project" };
    }
    const file = { path, absolutePath, sizeBytes: stats.size, executable: (stats.mode & 0o100) !== 0 };
    this.#found.set(path, file);
    return { file };
  }

  #isIgnored(segments: readonly string[]): boolean {
    let rules = IgnoreRules.forProject(this.#root);
    let folder = this.#root;
    for (const [index, name] of segments.entries()) {
      const isFolder = index < segments.length - 1;
      if (rules.ignores(name, isFolder)) return true;
      folder = join(folder, name);
      if (isFolder) rules = rules.enter(name, folder, existsSync(join(folder, ".gitignore")));
    }
    return false;
  }
}
