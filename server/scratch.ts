/**
 * The folder for the scratch folders of this process's runners. Several servers may share a data folder: each has its own
 * folder and a lock file next to it, and removes the folders of processes that have ended.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "./store/sqlite/lock.ts";
import { log, reasonOf } from "./telemetry/log/index.ts";

const suffix = ".lock";
const nameLength = 8;

export interface Scratch {
  folder: string;
  /** Whether an owner of leases used this data folder and its process has ended. */
  hasEnded(owner: string): boolean;
  /** Removes the folder. */
  release(): void;
}

/** Each start and end takes some milliseconds. */
const maxWaitMs = 10_000;

/** @param owner - names this process in leases; the end of the name is random */
export function openScratch(dataDir: string, owner: string): Scratch {
  const root = join(dataDir, "tmp", "runners");
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const turn = join(dataDir, "tmp", "runners.lock");
  return inTurn(turn, () => createScratch(root, owner, turn));
}

/**
 * One server at a time: another one would take a new folder for an abandoned one, between the creation of its lock file and
 * the lock, or lock a file that is being removed.
 */
function inTurn<T>(path: string, action: () => T): T {
  const lock = tryLock(path, maxWaitMs);
  if (lock === null)
    throw new Error(`Cannot lock ${path}: another server has held it for ${maxWaitMs / 1000} s.`);
  try {
    return action();
  } finally {
    lock.release();
  }
}

function createScratch(root: string, owner: string, turn: string): Scratch {
  const names = [...new Set(readdirSync(root).map((name) => name.replace(/\.lock$/, "")))];
  const ended = names.filter((name) => removeAbandoned(join(root, name)));
  // Short: the path of a socket is limited to about 100 characters.
  const folder = join(root, owner.slice(-nameLength));
  const lock = tryLock(folder + suffix);
  mkdirSync(folder, { mode: 0o700 });
  return {
    folder,
    hasEnded: (other) => ended.includes(other.slice(-nameLength)),
    release() {
      lock?.release();
      inTurn(turn, () => removeAbandoned(folder));
    },
  };
}

/** Removes a folder unless its process lives. @returns whether its process has ended */
function removeAbandoned(folder: string): boolean {
  const lock = tryLock(folder + suffix);
  if (lock === null) return false;
  // A file that a dead runner still holds open can make this fail; the next start tries again.
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    log.error(`Cannot remove ${folder}`, { reason: reasonOf(error) });
  }
  lock.release();
  rmSync(folder + suffix, { force: true });
  return true;
}
