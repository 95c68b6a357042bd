/**
 * The embedded engine: `node:sqlite`, built into all three runtimes, with WAL and `synchronous=FULL`.
 *
 * Group commit: the writes that arrive in one turn of the event loop share one transaction and so one fsync (4,500 single
 * commits a second against 110,000 rows a second in groups of 50). A write that fails is rolled back alone. BEGIN to COMMIT
 * runs synchronously, so that reads on the same connection see committed rows only.
 */
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { createPrivateFile, prepareDataDir } from "./data-dir.ts";
import type { Engine, Program, Row, SqlValue } from "./engine.ts";
import { migrate } from "./migrations.ts";

interface PendingWrite {
  program: () => Program<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** Limits the time for which one flush blocks the event loop. Further writes go into the next flush. */
const writesPerCommit = 1000;

/** How long a write waits while another process holds the lock, and the interval between attempts. */
const lockMs = 5_000;
const retryMs = 2;

const fileName = "svc.db";

export function openSqlite(dataDir: string): Engine {
  prepareDataDir(dataDir);
  const file = join(dataDir, fileName);
  // SQLite gives `-wal` and `-shm` the mode of the database.
  createPrivateFile(file);
  return new SqliteEngine(file);
}

class SqliteEngine implements Engine {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #pending: PendingWrite[] = [];
  #scheduled = false;
  #lockedSinceMs: number | null = null;
  #closed = false;
  #version: number | null = null;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`PRAGMA busy_timeout = ${lockMs}`);
    this.#db.exec("PRAGMA journal_mode = WAL");
    this.#db.exec("PRAGMA synchronous = FULL");
    this.#db.exec("PRAGMA foreign_keys = ON");
    this.#db.exec("PRAGMA cache_size = -16384");
    migrate({ exec: (sql) => this.#db.exec(sql), all: (sql, ...params) => this.#all(sql, params) });
    // From here on, writes wait for the lock without blocking the event loop.
    this.#db.exec("PRAGMA busy_timeout = 0");
  }

  write<Result>(program: () => Program<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(new Error("Cannot write: the store is closed."));
    return new Promise<Result>((resolve, reject) => {
      this.#pending.push({ program, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  async read<Result>(program: () => Program<Result>): Promise<Result> {
    return this.#drive(program);
  }

  version(): number {
    if (this.#version === null) {
      this.#version = Number(this.#all("PRAGMA data_version", [])[0]?.data_version ?? 0);
      // Read once per turn of the event loop: every webhook needs it.
      setImmediate(() => {
        this.#version = null;
      });
    }
    return this.#version;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#pending.length > 0) {
      this.#flush();
      if (this.#pending.length > 0) await setTimeout(retryMs);
    }
    this.#db.close();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flushScheduled());
  }

  #flushScheduled(): void {
    this.#scheduled = false;
    if (this.#pending.length > 0) this.#flush();
  }

  #flush(): void {
    const batch = this.#pending.splice(0, writesPerCommit);
    const settle = this.#store(batch);
    if (settle === null) {
      this.#pending.unshift(...batch);
      this.#waitForLock();
      return;
    }
    for (const done of settle) done();
    if (this.#pending.length > 0 && !this.#closed) this.#schedule();
  }

  /** @returns the functions that settle the callers' promises; null when another process holds the write lock */
  #store(batch: readonly PendingWrite[]): (() => void)[] | null {
    try {
      if (!this.#begin()) return null;
      try {
        return this.#commit(batch, false);
      } catch {
        // A write or the commit failed: repeat the batch with a savepoint for each write, so that only the failing one is lost.
      }
      return this.#begin() ? this.#commit(batch, true) : null;
    } catch (error) {
      return batch.map((write) => () => write.reject(error));
    }
  }

  /** @returns false when another process (`svc admin`, a second handle) holds the write lock */
  #begin(): boolean {
    try {
      this.#all("BEGIN IMMEDIATE", []);
    } catch (error) {
      if (!isBusy(error)) throw error;
      return false;
    }
    this.#lockedSinceMs = null;
    return true;
  }

  /**
   * Tries again after a short time. Short intervals find the gaps between the commits of a busy process; SQLite's busy
   * handler sleeps up to 100 ms and misses them. Pending writes fail when the lock is held for too long.
   */
  #waitForLock(): void {
    this.#lockedSinceMs ??= performance.now();
    if (performance.now() - this.#lockedSinceMs > lockMs) {
      const error = new Error(
        `Cannot write: another process has held the write lock for ${lockMs / 1000} s: database is locked`,
      );
      for (const write of this.#pending.splice(0)) write.reject(error);
      this.#lockedSinceMs = null;
      return;
    }
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    void setTimeout(retryMs).then(() => this.#flushScheduled());
  }

  /**
   * Runs a batch in the open transaction and commits it; returns functions that settle the callers' promises. Without
   * savepoints the first failure rolls back the batch. SQLite copies every page that a savepoint touches, which costs
   * a webhook a tenth of its time, and failures are rare.
   * @throws the error of a program or of the commit; the transaction is then rolled back
   */
  #commit(batch: readonly PendingWrite[], savepoints: boolean): (() => void)[] {
    try {
      const settle = batch.map((write) => (savepoints ? this.#runGuarded(write) : this.#run(write)));
      this.#all("COMMIT", []);
      return settle;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  #run(write: PendingWrite): () => void {
    const value = this.#drive(write.program);
    return () => write.resolve(value);
  }

  #runGuarded(write: PendingWrite): () => void {
    this.#all("SAVEPOINT write", []);
    try {
      const settle = this.#run(write);
      this.#all("RELEASE write", []);
      return settle;
    } catch (error) {
      this.#all("ROLLBACK TO write", []);
      this.#all("RELEASE write", []);
      return () => write.reject(error);
    }
  }

  #rollback(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // SQLite has already rolled back, for example on a full disk.
    }
  }

  #drive<Result>(program: () => Program<Result>): Result {
    const steps = program();
    let step = steps.next();
    while (!step.done) {
      let rows: Row[];
      try {
        rows = this.#all(step.value.sql, step.value.params);
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(rows);
    }
    return step.value;
  }

  #all(sql: string, params: readonly SqlValue[]): Row[] {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement.all(...params) as Row[];
  }
}

/** SQLITE_BUSY, or one of its extended codes. */
function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    "errcode" in error &&
    typeof error.errcode === "number" &&
    (error.errcode & 0xff) === 5
  );
}
