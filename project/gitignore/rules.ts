import { lstatSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { bytesOf, decide, type IgnorePattern, parseIgnoreFile } from "../gitignore.ts";
import { findRepository } from "./repository.ts";

interface Level {
  /** Length of the path of its folder from the top, with the slash after it, in bytes. */
  baseLength: number;
  patterns: readonly IgnorePattern[];
}

/**
 * Which entries of one folder are ignored. Each folder has its own, made from that of the folder around it.
 *
 * Levels go from the weakest to the strongest: the user's file, `.git/info/exclude`, then the `.gitignore` files from
 * the top of the repository down. The strongest level with a matching pattern decides.
 */
export class IgnoreRules {
  /** Path of the folder from the top, in bytes, with a slash at its end unless it is empty. */
  readonly #folder: string;
  readonly #levels: readonly Level[];

  private constructor(folder: string, levels: readonly Level[]) {
    this.#folder = folder;
    this.#levels = levels;
  }

  /**
   * The rules of a project's root, which also come from the repository around it. Whether the root itself is ignored
   * there does not count: whoever deploys it means it.
   */
  static forProject(root: string): IgnoreRules {
    const repository = findRepository(root);
    if (repository === null) return new IgnoreRules("", []).#withFile(join(root, ".gitignore"));
    const levels = repository.excludeFiles.map((file) => ({
      baseLength: 0,
      patterns: readPatterns(file, true),
    }));
    let folder = repository.top;
    let rules = new IgnoreRules("", levels).#withFile(join(folder, ".gitignore"));
    for (const segment of relative(repository.top, root).split(sep)) {
      if (segment === "") continue;
      folder = join(folder, segment);
      rules = rules.#below(segment).#withFile(join(folder, ".gitignore"));
    }
    return rules;
  }

  /** Whether an entry of this folder is ignored. A link to a folder is not a folder. */
  ignores(name: string, isFolder: boolean): boolean {
    const bytes = bytesOf(name);
    const path = this.#folder + bytes;
    for (let index = this.#levels.length - 1; index >= 0; index--) {
      const level = this.#levels[index];
      if (level === undefined) continue;
      const decision = decide(level.patterns, path.slice(level.baseLength), bytes, isFolder);
      if (decision !== undefined) return decision === "ignored";
    }
    return false;
  }

  /** The rules of a folder in this one, `hasFile` telling whether it has a `.gitignore`. */
  enter(name: string, absolutePath: string, hasFile: boolean): IgnoreRules {
    const below = this.#below(name);
    return hasFile ? below.#withFile(join(absolutePath, ".gitignore")) : below;
  }

  #below(name: string): IgnoreRules {
    return new IgnoreRules(`${this.#folder}${bytesOf(name)}/`, this.#levels);
  }

  #withFile(path: string): IgnoreRules {
    const patterns = readPatterns(path, false);
    if (patterns.length === 0) return this;
    return new IgnoreRules(this.#folder, [...this.#levels, { baseLength: this.#folder.length, patterns }]);
  }
}

/** A `.gitignore` that is a link is not read, as in git since 2.32. */
function readPatterns(path: string, followLinks: boolean): IgnorePattern[] {
  const stat = followLinks ? statSync : lstatSync;
  if (!stat(path, { throwIfNoEntry: false })?.isFile()) return [];
  return parseIgnoreFile(readFileSync(path));
}
