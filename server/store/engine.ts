/**
 * The seam between what is stored and what stores it.
 *
 * Glossary: a *statement* is one SQL text with bound parameters. A *program* is a generator that yields statements and is
 * sent their rows: it says what a unit of work does without saying how an engine runs it. SQLite drives a program to its
 * end at once; an engine behind a network awaits each statement. A *write* is a program that happens whole or not at all.
 * An engine may run a program again after it rolled the first run back, so that a program changes nothing but the store.
 *
 * Generators were chosen over async callbacks because a group commit must not let go of the connection between two
 * statements: with `await` any other microtask could slip a statement of its own into the transaction.
 */
export type SqlValue = string | number | bigint | null | Uint8Array;

export type Row = Record<string, SqlValue>;

export interface Statement {
  sql: string;
  params: readonly SqlValue[];
}

export type Program<Result> = Generator<Statement, Result, Row[]>;

export interface Engine {
  /** Runs a program in the next group commit; resolves once it is on disk. One failing program harms no other. */
  write<Result>(program: () => Program<Result>): Promise<Result>;
  /** Runs a program that only reads. It sees committed rows alone. */
  read<Result>(program: () => Program<Result>): Promise<Result>;
  /** A number that changes when another process has written. */
  version(): number;
  /** Finishes the writes that wait, then closes. */
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

/** A statement for its effect. */
export function* run(sql: string, ...params: SqlValue[]): Program<void> {
  yield { sql, params };
}
