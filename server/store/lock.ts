/**
 * Allows one server per data folder. The lock is an SQLite lock on a separate file, which the operating system releases
 * when the server dies, so that a lock is never stale.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPrivateFile, prepareDataDir } from "./data-dir.ts";

/** @throws Error when another server holds the lock, or other users have access to the folder */
export function lockDataDir(dataDir: string): { release(): void } {
  prepareDataDir(dataDir);
  const path = join(dataDir, "server.lock");
  createPrivateFile(path);
  const db = new DatabaseSync(path);
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (!(error instanceof Error) || !/locked|busy/i.test(error.message)) throw error;
    throw new Error(`Cannot use the data folder ${dataDir}: another server uses it.`);
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
