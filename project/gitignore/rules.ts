/**
 * Applies `.gitignore` files as git does. The `ignore` package matches the patterns. It knows only the patterns of one
 * folder, so this code finds the files and rewrites the patterns of nested ones as paths from the top.
 *
 * Names and patterns are compared as UTF-8 bytes, as in git, where `?` matches one byte. Random trees show no difference
 * to git (`gitignore.property.test.ts`). Differences by design: tracked files are ignored like others, and neither
 * `core.ignoreCase` nor files included by a git configuration are read.
 */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import createIgnore, { type Ignore } from "ignore";
import { findRepository } from "./repository.ts";

/** The rules for the entries of one folder. Later patterns take precedence over earlier ones. */
export class IgnoreRules {
  /** Path of the folder from the top, in bytes; empty, or with a slash at its end. */
  readonly #folder: string;
  readonly #patterns: Ignore;

  private constructor(folder: string, patterns: Ignore) {
    this.#folder = folder;
    this.#patterns = patterns;
  }

  /**
   * The rules for the root folder of a project, including those of the repository that contains it. A rule that ignores
   * the root folder itself has no effect.
   */
  static forProject(root: string): IgnoreRules {
    const repository = findRepository(root);
    if (repository === null) return new IgnoreRules("", newIgnore()).#withFile(join(root, ".gitignore"));
    const shared = newIgnore();
    for (const file of repository.excludeFiles) shared.add(patternsOf(file, "", { followLinks: true }));
    let folder = repository.top;
    let rules = new IgnoreRules("", shared).#withFile(join(folder, ".gitignore"));
    for (const segment of relative(repository.top, root).split(sep)) {
      if (segment === "") continue;
      folder = join(folder, segment);
      rules = rules.#reinclude(segment).#below(segment).#withFile(join(folder, ".gitignore"));
    }
    return rules;
  }

  /** Whether an entry of this folder is ignored. A link to a folder counts as a file. */
  ignores(name: string, isFolder: boolean): boolean {
    return this.#patterns.ignores(this.#folder + bytesOf(name) + (isFolder ? "/" : ""));
  }

  /** The rules of a subfolder. `hasFile` tells whether it contains a `.gitignore`. */
  enter(name: string, absolutePath: string, hasFile: boolean): IgnoreRules {
    const below = this.#below(name);
    return hasFile ? below.#withFile(join(absolutePath, ".gitignore")) : below;
  }

  #reinclude(name: string): IgnoreRules {
    const path = escaped(`${this.#folder}${bytesOf(name)}`);
    return new IgnoreRules(this.#folder, newIgnore().add(this.#patterns).add(`!/${path}/`));
  }

  #below(name: string): IgnoreRules {
    return new IgnoreRules(`${this.#folder}${bytesOf(name)}/`, this.#patterns);
  }

  #withFile(path: string): IgnoreRules {
    const patterns = patternsOf(path, this.#folder, { followLinks: false });
    if (patterns.length === 0) return this;
    return new IgnoreRules(this.#folder, newIgnore().add(this.#patterns).add(patterns));
  }
}

function newIgnore(): Ignore {
  return createIgnore({ ignorecase: false });
}

/** The patterns of a file in `folder`, as paths from the top. Git does not read a `.gitignore` that is a link. */
function patternsOf(path: string, folder: string, { followLinks }: { followLinks: boolean }): string[] {
  const stat = followLinks ? statSync : lstatSync;
  if (!stat(path, { throwIfNoEntry: false })?.isFile()) return [];
  const text = readFileSync(path, "latin1").replace(/^\xef\xbb\xbf/, "");
  const lines = text.split(/\r?\n/).map((line) => line.replace(/\0.*/s, ""));
  return folder === "" ? lines : lines.flatMap((line) => fromTop(line, folder));
}

/** A pattern with a slash before its end applies to the path from its folder, and any other to a name below it. */
function fromTop(line: string, folder: string): string[] {
  if (line === "" || line.startsWith("#")) return [];
  const [, negation = "", pattern = ""] = /^(!?)(.*)$/s.exec(line) ?? [];
  const body = pattern.replace(/(?<!\\) +$/, "");
  if (body === "" || body === "/") return [];
  const isPath = body.slice(0, -1).includes("/");
  return [`${negation}/${escaped(folder)}${isPath ? "" : "**/"}${body.replace(/^\//, "")}`];
}

function escaped(path: string): string {
  return path.replace(/[\\*?[\]!# ]/g, "\\$&");
}

/** A text as its UTF-8 bytes, each as one character of code 0 to 255. */
function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
