/**
 * Locks on files. A lock is an SQLite lock, which the operating system releases when its process dies, so that a lock is
 * never stale.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPrivateFile, prepareDataDir } from "../data-dir.ts";

/**
 * Allows one server per data folder.
 * @throws Error when another server holds the lock, or other users have access to the folder
 */
export function lockDataDir(dataDir: string): { release(): void } {
  prepareDataDir(dataDir);
  const lock = tryLock(join(dataDir, "server.lock"));
  if (lock === null) throw new Error(`Cannot use the data folder ${dataDir}: another server uses it.`);
  return lock;
}

/**
 * Locks a file, and creates it if it does not exist. Null when another process holds the lock.
 * @param waitMs - how long to wait for that process
 */
export function tryLock(path: string, waitMs = 0): { release(): void } | null {
  createPrivateFile(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${waitMs}`);
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (!(error instanceof Error) || !/locked|busy/i.test(error.message)) throw error;
    return null;
  }
  return { release: () => db.close() };
}

/** Whether a server uses the data folder now. */
export function isServing(dataDir: string): boolean {
  try {
    lockDataDir(dataDir).release();
    return false;
  } catch {
    return true;
  }
}
