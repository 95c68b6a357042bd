/**
 * One server per data folder. The lock is SQLite's own on a file beside the store: the operating system frees it the
 * moment its holder dies, so that no stale lock ever has to be judged.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** @throws Error when another server holds the folder. */
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
