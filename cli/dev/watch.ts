/**
 * Watches the files of a project.
 *
 * Each folder has a watcher of its own. `recursive` is not used: on Linux, Node then misses every change of a file after an
 * editor has replaced it once, and Deno misses files in a new folder. chokidar would watch each file as well, and needs
 * two packages for what is one page here.
 */
import { type FSWatcher, readdirSync, realpathSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { PROJECT_FILE } from "../../project/names.ts";
import { TARGET_FOLDERS } from "../../project/tree.ts";
import { envFile } from "../local/env-file.ts";

/** Files of the project's folder on which a deployment depends. */
const projectFiles = new Set([
  PROJECT_FILE,
  ".gitignore",
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "deno.lock",
]);
/** Usual folders of shared code. A deployment adds the folders of all files that it imports. */
const sharedFolders = ["lib", "src", "shared"];
/** Temporary files of editors. */
const temporary = /~$|\.sw[a-z]$|^\.#|^4913$/;

export interface WatchEvents {
  /** A file of the project was changed, added or removed. */
  onChange(): void;
  /** The file with the secrets was changed, added or removed. */
  onSecrets(): void;
  /** Changes of a folder are not reported. */
  onError(message: string): void;
}

export interface ProjectWatcher {
  /** Watches the folders of these files too. @param paths - relative to the project, with `/` */
  addFiles(paths: Iterable<string>): void;
  stop(): void;
}

export function watchProject(root: string, events: WatchEvents): ProjectWatcher {
  const watchers = new Map<string, FSWatcher>();
  const topFolders = new Set<string>([...TARGET_FOLDERS, ...sharedFolders]);

  const start = (folder: string, onEvent: (name: string) => void): void => {
    try {
      const watcher = watch(folder, (_event, name) => onEvent(name ?? ""));
      watchers.set(folder, watcher);
      watcher.on("error", () => stop(folder));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // The folder was removed a moment ago.
      if (code !== "ENOENT") events.onError(`Cannot watch ${folder}: ${message}`);
    }
  };
  const stop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  /** Watches new folders, and forgets those that are gone. */
  const follow = (): void => {
    const folders = foldersOf(root, topFolders);
    for (const folder of watchers.keys()) if (folder !== root && !folders.has(folder)) stop(folder);
    for (const folder of folders) if (!watchers.has(folder)) start(folder, onTargetEvent);
  };
  const onTargetEvent = (name: string): void => {
    if (temporary.test(name)) return;
    follow();
    events.onChange();
  };

  start(root, (name) => {
    if (name === envFile) events.onSecrets();
    else if (topFolders.has(name)) onTargetEvent(name);
    else if (projectFiles.has(name)) events.onChange();
  });
  follow();
  return {
    addFiles(paths) {
      const before = topFolders.size;
      for (const path of paths) {
        const [top = "", ...rest] = path.split("/");
        if (rest.length > 0 && top !== "node_modules") topFolders.add(top);
      }
      if (topFolders.size > before) follow();
    },
    stop() {
      for (const folder of [...watchers.keys()]) stop(folder);
    },
  };
}

/** All folders of agents, workflows and shared code. Links to folders are followed. */
function foldersOf(root: string, topFolders: ReadonlySet<string>): Set<string> {
  const found = new Map<string, string>();
  const queue = [...topFolders].map((name) => join(root, name));
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    try {
      const real = realpathSync(folder);
      if (found.has(real) || !statSync(real).isDirectory()) continue;
      found.set(real, folder);
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const isFolder = entry.isDirectory() || entry.isSymbolicLink();
        if (isFolder && entry.name !== "node_modules" && entry.name !== ".git") {
          queue.push(join(folder, entry.name));
        }
      }
    } catch {
      // It was removed, or is a broken link.
    }
  }
  return new Set(found.values());
}
