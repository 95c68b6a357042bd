/** A connection to the database: its settings, and its prepared statements. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { returnsChanged, rowMakerOf, toSqlite } from "../dialects/sqlite.ts";
import type { Row, SqlValue, Statement } from "../engine.ts";
import { migrate } from "../migrate.ts";

/**
 * Pages in the write-ahead log at which a commit also writes them to the database: 16 MB. With many organizations, each commit
 * writes pages all over the tables, most of them again soon. At SQLite's default of 1,000 pages, 100 organizations had 0.7
 * times the webhooks per second; at 16,000, one organization had fewer.
 */
const checkpointPages = 4_000;

/** Four times what a checkpoint leaves. */
const walBytes = 64 * 1024 ** 2;

export class Connection {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** @param lockMs - how long the start waits for the lock of another process */
  constructor(file: string, lockMs: number) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`PRAGMA busy_timeout = ${lockMs}`);
    // For a new store only: free pages can be returned to the file system. Of an existing one, it needs the write lock.
    if (this.all("PRAGMA page_count", [])[0]?.page_count === 0)
      this.#db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    this.#db.exec("PRAGMA journal_mode = WAL");
    this.#db.exec("PRAGMA synchronous = FULL");
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    // The write-ahead log grows during a backup. It shrinks to this size when it starts over.
    this.#db.exec(`PRAGMA journal_size_limit = ${walBytes}`);
    this.#db.exec("PRAGMA foreign_keys = ON");
    this.#db.exec("PRAGMA cache_size = -16384");
    // Statements of many rows keep what they would roll back in memory. A temporary file for each claim costs more.
    this.#db.exec("PRAGMA temp_store = MEMORY");
    migrate({ exec: (sql) => this.#db.exec(sql), all: (sql, ...params) => this.all(sql, params) });
    // From here on, writes wait for the lock without blocking the event loop.
    this.#db.exec("PRAGMA busy_timeout = 0");
  }

  execute({ sql, params, rows }: Statement): Row[] {
    if (rows === undefined) return this.all(sql, params);
    if (rows.length === 0) return [];
    const statement = this.#prepare(sql);
    if (returnsChanged(sql)) return changedRows(statement, params, rows);
    const [row] = rows;
    if (rows.length === 1 && row !== undefined) return statement.all(...params, ...row) as Row[];
    const results: Row[] = [];
    for (const row of rows) {
      for (const result of statement.all(...params, ...row) as Row[]) results.push(result);
    }
    return results;
  }

  all(sql: string, params: readonly SqlValue[]): Row[] {
    const rows: unknown[] = this.#prepare(sql).all(...params);
    const makeRow = rowMakerOf(sql);
    return makeRow === undefined ? (rows as Row[]) : (rows as SqlValue[][]).map(makeRow);
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(toSqlite(sql));
      if (rowMakerOf(sql) !== undefined) statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** @returns false when another process (`svc admin`, a second handle) holds the write lock */
  begin(): boolean {
    try {
      this.all("BEGIN IMMEDIATE", []);
    } catch (error) {
      if (!isBusy(error)) throw error;
      return false;
    }
    return true;
  }

  rollback(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // SQLite has already rolled back, for example on a full disk.
    }
  }

  /** Changes when another process has committed. */
  version(): SqlValue {
    return this.all("PRAGMA data_version", [])[0]?.data_version ?? null;
  }

  close(): void {
    this.#db.close();
  }
}

function changedRows(
  statement: StatementSync,
  params: readonly SqlValue[],
  rows: readonly (readonly SqlValue[])[],
): Row[] {
  const changed: Row[] = [];
  for (const row of rows) {
    if (Number(statement.run(...params, ...row).changes) > 0) changed.push({ at: row[0] ?? null });
  }
  return changed;
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
