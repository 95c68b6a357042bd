import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

export interface Repository {
  /** The root folder of the working tree. */
  top: string;
  /** Files with patterns for the whole tree, in rising precedence. They may not exist. */
  excludeFiles: string[];
}

/** The git repository that contains a folder; null when there is none. The environment variables of git are not read. */
export function findRepository(folder: string): Repository | null {
  for (let top = resolve(folder); ; top = dirname(top)) {
    const gitDir = gitDirOf(top);
    if (gitDir !== null) {
      const shared = sharedDirOf(gitDir);
      return { top, excludeFiles: [userExcludes(shared), join(shared, "info", "exclude")] };
    }
    if (dirname(top) === top) return null;
  }
}

/** `.git` is a folder, or in a linked working tree or submodule a file with the path of one. */
function gitDirOf(top: string): string | null {
  const path = join(top, ".git");
  const kind = statSync(path, { throwIfNoEntry: false });
  const named = kind?.isFile() ? /^gitdir: (.+?)\r?\n?$/s.exec(readText(path))?.[1] : undefined;
  const gitDir = named === undefined ? path : resolve(top, named);
  return kind !== undefined && existsSync(join(gitDir, "HEAD")) ? gitDir : null;
}

/** A linked working tree shares the `info` folder and the configuration of the main one. */
function sharedDirOf(gitDir: string): string {
  const named = readText(join(gitDir, "commondir")).trim();
  return named === "" ? gitDir : resolve(gitDir, named);
}

/** The user's exclude file: `core.excludesFile`, else `git/ignore` in the user's configuration folder. */
function userExcludes(gitDir: string): string {
  const home = homedir();
  const userDir = join(process.env.XDG_CONFIG_HOME || join(home, ".config"), "git");
  const configs = [
    join(gitDir, "config"),
    join(home, ".gitconfig"),
    join(userDir, "config"),
    "/etc/gitconfig",
  ];
  for (const config of configs) {
    const named = excludesFileIn(readText(config));
    if (named !== null) return resolve(home, named.replace(/^~\//, ""));
  }
  return join(userDir, "ignore");
}

/** The last `core.excludesFile` of a configuration; git-config(1). Included files are not read. */
function excludesFileIn(config: string): string | null {
  let section = "";
  let found: string | null = null;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line);
    if (header?.[1] !== undefined) section = header[1].toLowerCase();
    const value = /^\s*excludesfile\s*=\s*(.*?)\s*$/i.exec(line)?.[1];
    if (section === "core" && value !== undefined) found = unquoted(value);
  }
  return found;
}

function unquoted(value: string): string {
  return /^"(.*)"$/.exec(value)?.[1]?.replace(/\\(["\\])/g, "$1") ?? value;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
