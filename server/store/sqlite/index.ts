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
import { metrics, secondsSince } from "../../telemetry/metrics/index.ts";
import { createPrivateFile, prepareDataDir } from "../data-dir.ts";
import { toSqlite } from "../dialects/sqlite.ts";
import type { Engine, Listener, Notification, Program, Row, SqlValue, Statement, Topic } from "../engine.ts";
import { Listeners } from "../listeners.ts";
import { migrate } from "../migrate.ts";

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

/** Sixteen times what a checkpoint leaves. */
const walBytes = 64 * 1024 ** 2;

/** How often the engine looks for commits of other processes. */
const pollMs = 100;

const fileName = "svc.db";

export function openSqlite(dataDir: string): Engine {
  prepareDataDir(dataDir);
  const file = join(dataDir, fileName);
  // SQLite gives `-wal` and `-shm` the mode of the database.
  createPrivateFile(file);
  return new SqliteEngine(file);
}

class SqliteEngine implements Engine {
  readonly ordered = true;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #pending: PendingWrite[] = [];
  #scheduled = false;
  #lockedSinceMs: number | null = null;
  #closed = false;
  readonly #listeners = new Listeners();
  /** The notifications of the open transaction. */
  readonly #notified = new Map<Topic, Set<string>>();
  /** Changes when another process has committed. */
  #version: SqlValue = null;
  #poll: NodeJS.Timeout | null = null;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`PRAGMA busy_timeout = ${lockMs}`);
    // For a new store only: free pages can be returned to the file system.
    this.#db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    this.#db.exec("PRAGMA journal_mode = WAL");
    this.#db.exec("PRAGMA synchronous = FULL");
    // The write-ahead log grows during a backup. It shrinks to this size when it starts over.
    this.#db.exec(`PRAGMA journal_size_limit = ${walBytes}`);
    this.#db.exec("PRAGMA foreign_keys = ON");
    this.#db.exec("PRAGMA cache_size = -16384");
    // Statements of many rows keep what they would roll back in memory. A temporary file for each claim costs more.
    this.#db.exec("PRAGMA temp_store = MEMORY");
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

  listen(topic: Topic, listener: Listener): () => void {
    if (this.#poll === null) {
      this.#version = this.#dataVersion();
      this.#poll = setInterval(() => this.#checkVersion(), pollMs).unref();
    }
    return this.#listeners.add(topic, listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#poll !== null) clearInterval(this.#poll);
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
    this.#deliver();
    if (this.#pending.length > 0 && !this.#closed) this.#schedule();
  }

  #deliver(): void {
    if (this.#notified.size === 0) return;
    const notified = [...this.#notified];
    this.#notified.clear();
    for (const [topic, keys] of notified) for (const key of keys) this.#listeners.call(topic, key);
  }

  #dataVersion(): SqlValue {
    return this.#all("PRAGMA data_version", [])[0]?.data_version ?? null;
  }

  #checkVersion(): void {
    const version = this.#dataVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.#listeners.callAll();
  }

  /** @returns the functions that settle the callers' promises; null when another process holds the write lock */
  #store(batch: readonly PendingWrite[]): (() => void)[] | null {
    const startedMs = performance.now();
    try {
      if (!this.#begin()) return null;
      try {
        const settle = this.#commit(batch, false);
        metrics.commitDuration.observe(secondsSince(startedMs));
        return settle;
      } catch {
        // A write or the commit failed: repeat the batch with a savepoint for each write, so that only the failing one is lost.
      }
      return this.#begin() ? this.#commit(batch, true) : null;
    } catch (error) {
      metrics.commitFailures.add();
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

  /** The notifications of a failed write are sent too: receivers read the state, and find it unchanged. */
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
    this.#notified.clear();
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
      const { value } = step;
      if ("topic" in value) {
        this.#notify(value);
        step = steps.next([]);
        continue;
      }
      let rows: Row[];
      try {
        rows = this.#execute(value);
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(rows);
    }
    return step.value;
  }

  #notify({ topic, key }: Notification): void {
    if (!this.#listeners.has(topic)) return;
    const keys = this.#notified.get(topic);
    if (keys === undefined) this.#notified.set(topic, new Set([key]));
    else keys.add(key);
  }

  #execute({ sql, params, rows }: Statement): Row[] {
    if (rows === undefined) return this.#all(sql, params);
    if (rows.length === 0) return [];
    const statement = this.#prepare(sql);
    const [row] = rows;
    if (rows.length === 1 && row !== undefined) return statement.all(...params, ...row) as Row[];
    const results: Row[] = [];
    for (const row of rows) {
      for (const result of statement.all(...params, ...row) as Row[]) results.push(result);
    }
    return results;
  }

  #all(sql: string, params: readonly SqlValue[]): Row[] {
    return this.#prepare(sql).all(...params) as Row[];
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(toSqlite(sql));
      this.#statements.set(sql, statement);
    }
    return statement;
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
