/**
 * Allows one server per data folder. The lock is an SQLite lock on a separate file, which the operating system releases
 * when the server dies, so that a lock is never stale.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** @throws Error when another server holds the lock */
export function lockDataDir(dataDir: string): { release(): void } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(join(dataDir, "server.lock"));
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (!(error instanceof Error) || !/locked|busy/i.test(error.message)) throw error;
    throw new Error(`Cannot start: another server uses the data folder ${dataDir}.`);
  }
  return { release: () => db.close() };
}
