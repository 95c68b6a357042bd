/**
 * The interface of a database engine.
 *
 * Glossary: a *statement* is one SQL text with numbered parameters. A *row set* is a list of rows that one statement reads
 * as a table. A *program* is a generator that yields statements and receives their rows: it describes a unit of work
 * independently of the engine. SQLite runs a program synchronously to its end; an engine behind a network awaits each
 * statement. A *write* is a program that takes effect as a whole or not at all. An engine may roll a program back and run
 * it again, so a program must have no effects outside the store. A *notification* tells all processes that use the store
 * that something has changed; it carries no data, and its receiver reads the committed state.
 *
 * Generators were chosen over async callbacks because a group commit must not release the connection between two
 * statements: with `await`, another microtask could add a statement to the transaction.
 *
 * `dialects/` has the rules for SQL text that both engines run.
 */
export type SqlValue = string | number | bigint | null | Uint8Array;

export type Row = Record<string, SqlValue>;

export interface Statement {
  sql: string;
  /** The values of `?1`, `?2`, and so on. */
  params: readonly SqlValue[];
  /** The row set: for each row the values of its columns. With no rows, the statement has no effect. */
  rows?: readonly (readonly SqlValue[])[];
  /**
   * The program reads no rows of it, and its failure fails the program. An engine behind a network may then send it together
   * with the next statement or the commit.
   */
  unread?: true;
}

/** What a notification is about, and what its key names. */
export type Topic =
  /** The webhooks of an organization have changed. */
  | "routes"
  /** An API key was revoked. */
  | "keys"
  /** The hash of the token of a console session that was closed. */
  | "sessions"
  /** The secrets of an organization have changed. */
  | "secrets"
  /** The cancellation of a running execution was requested. */
  | "cancel"
  /** A deployment has a new queued execution. */
  | "queued"
  /** A deployment waits for a worker that checks its modules, or was checked. */
  | "check"
  /** A deployment has a new input to check. */
  | "input_check"
  /** An input was checked. */
  | "input_checked"
  /** The state of an execution has changed. */
  | "execution"
  /** An organization has new log entries. */
  | "log";

export interface Notification {
  topic: Topic;
  key: string;
}

export type Program<Result> = Generator<Statement | Notification, Result, Row[]>;

/** @param key - the key of the notification; null when any key of the topic may have changed */
export type Listener = (key: string | null) => void;

export interface Engine {
  /** Whether writes of this process are committed in the order of their calls. */
  readonly ordered: boolean;
  /**
   * Runs a program in the next group commit; resolves once it is on disk. A failing program does not affect others. Each
   * statement sees what was committed before it.
   */
  write<Result>(program: () => Program<Result>): Promise<Result>;
  /** Runs a program that only reads; it sees only committed rows. */
  read<Result>(program: () => Program<Result>): Promise<Result>;
  /**
   * Calls the listener after each commit of this or another process that notified the topic. A lost notification of the
   * topics `routes`, `keys`, `secrets` and `cancel` is replaced by a call with null within a second. Other topics are
   * hints: their readers also read once per second.
   *
   * @returns a function that unsubscribes
   */
  listen(topic: Topic, listener: Listener): () => void;
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

/**
 * Runs a statement over a row set; the returned rows may be in any order. A program must not continue after its failure:
 * some of the rows may have taken effect.
 */
export function* each<R extends object = Row>(
  sql: string,
  rows: readonly (readonly SqlValue[])[],
  ...params: SqlValue[]
): Program<R[]> {
  return (yield { sql, params, rows }) as R[];
}

/** Runs a statement over a row set without reading rows. Its failure fails the program. */
export function* runEach(sql: string, rows: readonly (readonly SqlValue[])[]): Program<void> {
  yield { sql, params: [], rows, unread: true };
}

/** Notifies all processes after the commit. */
export function* notify(topic: Topic, key: string): Program<void> {
  yield { topic, key };
}
