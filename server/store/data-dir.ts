/**
 * Access to the data folder. It holds keys, secrets and payloads, so that only its owner may have access: mode 700, and
 * 600 for files. Windows has no modes; its folders inherit the access rules of their parent.
 */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Exists in a data folder while `svc admin restore` writes to it. */
export const restoringFolder = "restoring";

const isWindows = process.platform === "win32";

/** Files and folders in a data folder. `master.key` is missing: the server refuses one that was open to other users. */
const ownEntries = [
  "svc.db",
  "svc.db-wal",
  "svc.db-shm",
  "server.lock",
  "signing.key",
  "objects",
  "packages",
  "tmp",
];

/**
 * Creates the data folder, or removes the access of other users to an existing one and its entries. Files deeper in the
 * tree need no change, because other users cannot enter the folders.
 *
 * @throws Error if the folder cannot be created, other users have access that cannot be removed, the folder also holds files of other programs, or a
 *   restore into it has not ended
 */
export function prepareDataDir(dataDir: string): void {
  createFolder(dataDir);
  if (statSync(join(dataDir, restoringFolder), { throwIfNoEntry: false }) !== undefined) {
    throw new Error(
      `Cannot use the data folder ${dataDir}: a restore into it has not ended; if none is running, delete the folder and restore again.`,
    );
  }
  if (isWindows) return;
  if (isOpen(statSync(dataDir))) {
    const entries = readdirSync(dataDir);
    // With `--data .` or `--data /tmp`, a change of the mode would lock out other programs.
    if (entries.length > 0 && !entries.includes("svc.db")) {
      throw new Error(
        `Cannot use the data folder ${dataDir}: other users have access, and it contains other files; pass a folder of its own with --data, or run chmod 700.`,
      );
    }
    restrict(dataDir, 0o700);
  }
  for (const name of ownEntries) {
    const path = join(dataDir, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && isOpen(stats)) restrict(path, stats.isDirectory() ? 0o700 : 0o600);
  }
}

/** Level by level: Node's recursive `mkdir` never returns below a folder that answers ENOENT, such as /proc. */
function createFolder(dataDir: string): void {
  const missing: string[] = [];
  let folder = resolve(dataDir);
  try {
    let stats = statSync(folder, { throwIfNoEntry: false });
    while (stats === undefined && folder !== dirname(folder)) {
      missing.unshift(folder);
      folder = dirname(folder);
      stats = statSync(folder, { throwIfNoEntry: false });
    }
    if (stats?.isDirectory() === false)
      throw new Error(
        `Cannot create the data folder ${dataDir}: ${folder} is a file; pass another folder with --data.`,
      );
    for (folder of missing) createUnlessExists(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const reason =
      code === "EACCES" || code === "EPERM"
        ? `no permission to create ${folder}`
        : `${folder} cannot be created (${code})`;
    throw new Error(`Cannot create the data folder ${dataDir}: ${reason}; pass another folder with --data.`, {
      cause: error,
    });
  }
}

function createUnlessExists(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process created it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Creates an empty file that only its owner can access, unless the file exists. */
export function createPrivateFile(path: string): void {
  try {
    // An existing file is never opened: closing it would release the SQLite locks that this process has on it.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function isOpen(stats: Stats): boolean {
  return (stats.mode & 0o077) !== 0;
}

function restrict(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `Cannot use ${path}: other users have access, which cannot be removed (${code}); pass a folder that you own with --data.`,
      { cause: error },
    );
  }
  // Some file systems accept the change and ignore it.
  if (isOpen(statSync(path))) {
    throw new Error(
      `Cannot use ${path}: other users have access, and the file system has no modes; pass a folder on another file system with --data.`,
    );
  }
}
