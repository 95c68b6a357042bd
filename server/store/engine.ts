/**
 * The interface of a database engine.
 *
 * Glossary: a *statement* is one SQL text with bound parameters. A *program* is a generator that yields statements and
 * receives their rows: it describes a unit of work independently of the engine. SQLite runs a program synchronously to its
 * end; an engine behind a network awaits each statement. A *write* is a program that takes effect as a whole or not at all.
 * An engine may roll a program back and run it again, so a program must have no effects outside the store.
 *
 * Generators were chosen over async callbacks because a group commit must not release the connection between two
 * statements: with `await`, another microtask could add a statement to the transaction.
 */
export type SqlValue = string | number | bigint | null | Uint8Array;

export type Row = Record<string, SqlValue>;

export interface Statement {
  sql: string;
  params: readonly SqlValue[];
}

export type Program<Result> = Generator<Statement, Result, Row[]>;

export interface Engine {
  /** Runs a program in the next group commit; resolves once it is on disk. A failing program does not affect others. */
  write<Result>(program: () => Program<Result>): Promise<Result>;
  /** Runs a program that only reads; it sees only committed rows. */
  read<Result>(program: () => Program<Result>): Promise<Result>;
  /** A number that changes when another process has written. */
  version(): number;
  /** Completes the pending writes, then closes. */
  close(): Promise<void>;
}

/** Every row of a statement. */
export function* all<R extends object = Row>(sql: string, ...params: SqlValue[]): Program<R[]> {
  return (yield { sql, params }) as R[];
}

/** The first row of a statement, if there is one. */
export function* first<R extends object = Row>(sql: string, ...params: SqlValue[]): Program<R | undefined> {
  return ((yield { sql, params }) as R[])[0];
}

/** Runs a statement without reading rows. */
export function* run(sql: string, ...params: SqlValue[]): Program<void> {
  yield { sql, params };
}
