/**
 * Runs one program as one transaction.
 *
 * Statements whose rows the program does not read are deferred: they share a round trip with the next statement or with the
 * commit. Hints follow the commit without a round trip of their own.
 *
 * The first statement shares a round trip with `BEGIN` and with the *mark*: each connection has a row in `commit_marks`, in
 * which a transaction stores its number before anything else. When the answer to a `COMMIT` is lost, the row decides: it
 * has the number exactly if the transaction was committed. The row is locked until the transaction has ended, so that
 * another connection that changes it reads the final state. `pg_xact_status` was rejected: after a crash of PostgreSQL,
 * another transaction may get the same id.
 */
import type { Notification, Program, Row, Statement } from "../engine.ts";
import type { Answer, Connection } from "./connection.ts";
import { ConnectionLost, PostgresError } from "./errors.ts";
import type { Sending } from "./notifications.ts";
import { type PreparedStatement, prepare } from "./statement.ts";

/** Inserts the row of a new connection, and of one that was idle for days: the start of another process deleted it. */
const MARK = `INSERT INTO commit_marks (writer, number, at) VALUES ($1, $2, $3)
ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at`;
const NOTIFY = "SELECT pg_notify($1, $2)";

/** The connection was lost after `COMMIT` was sent. */
export class OutcomeUnknown extends ConnectionLost {
  /** The result, if the transaction was committed. */
  readonly result: Committed<unknown>;

  constructor(cause: ConnectionLost, result: Committed<unknown>) {
    super(cause.message, { cause });
    this.result = result;
  }
}

/** The program continued after a failed statement, which PostgreSQL allows only with a savepoint. */
export class NeedsSavepoints extends Error {}

export interface Mark {
  writer: string;
  number: number;
}

export interface TransactionOptions {
  mark: Mark;
  /** Surrounds each statement with a savepoint. */
  savepoints: boolean;
  /** What to send in the transaction, of its notifications. */
  payloads(notifications: readonly Notification[]): Sending[];
  /** The hints to send immediately after the commit. */
  hints(notifications: readonly Notification[]): Sending[];
}

export interface Committed<Result> {
  value: Result;
  notifications: Notification[];
}

/**
 * @throws OutcomeUnknown when the transaction may have been committed; after any other error it has no effect
 */
export async function runTransaction<Result>(
  connection: Connection,
  program: () => Program<Result>,
  { mark, savepoints, payloads, hints }: TransactionOptions,
): Promise<Committed<Result>> {
  const notifications: Notification[] = [];
  const steps = program();
  const transaction = new Transaction(connection, mark, savepoints);
  let result: Committed<Result> | null = null;
  try {
    let step = steps.next();
    while (!step.done) {
      if ("topic" in step.value) {
        notifications.push(step.value);
        step = steps.next([]);
        continue;
      }
      let rows: Row[];
      try {
        rows = await transaction.run(step.value);
      } catch (error) {
        if (error instanceof ConnectionLost || error instanceof NeedsSavepoints) throw error;
        step = steps.throw(error);
        continue;
      }
      step = steps.next(rows);
    }
    result = { value: step.value, notifications };
    await transaction.commit(payloads(notifications), hints(notifications));
    return result;
  } catch (error) {
    if (error instanceof ConnectionLost && result !== null) throw new OutcomeUnknown(error, result);
    await transaction.rollback();
    throw error;
  }
}

class Transaction {
  readonly #connection: Connection;
  readonly #mark: Mark;
  readonly #savepoints: boolean;
  #deferred: PreparedStatement[] = [];
  #open = false;
  #failed = false;

  constructor(connection: Connection, mark: Mark, savepoints: boolean) {
    this.#connection = connection;
    this.#mark = mark;
    this.#savepoints = savepoints;
  }

  async run(statement: Statement): Promise<Row[]> {
    const prepared = prepare(statement);
    if (prepared === null) return [];
    if (this.#failed) throw new NeedsSavepoints("The program continued after a failed statement.");
    if (statement.unread && !this.#savepoints) {
      this.#deferred.push(prepared);
      return [];
    }
    const before = this.#start();
    if (this.#savepoints) before.push(this.#connection.query("SAVEPOINT statement"));
    try {
      return (await afterAll(before, this.#connection.query(prepared.text, prepared.values))).rows;
    } catch (error) {
      if (!(error instanceof PostgresError)) throw error;
      if (this.#savepoints) await this.#connection.query("ROLLBACK TO SAVEPOINT statement");
      else this.#failed = true;
      throw error;
    }
  }

  async commit(payloads: readonly Sending[], hints: readonly Sending[]): Promise<void> {
    if (this.#failed) throw new NeedsSavepoints("The program ended after a failed statement.");
    const isEmpty = !this.#open && this.#deferred.length === 0 && payloads.length === 0;
    const before = isEmpty ? [] : this.#start();
    for (const payload of payloads) before.push(this.#connection.query(NOTIFY, payload));
    const committed = isEmpty ? null : this.#connection.query("COMMIT");
    // After a failure, COMMIT rolls back.
    this.#open = false;
    // A lost hint is found by the receivers' next poll.
    for (const hint of hints) this.#connection.query(NOTIFY, hint).catch(() => {});
    if (committed === null) return;
    const { command } = await afterAll(before, committed);
    if (command !== "COMMIT") throw new Error("PostgreSQL rolled the transaction back.");
  }

  async rollback(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    // A connection that cannot roll back must not be used again.
    await this.#connection.query("ROLLBACK").catch(() => this.#connection.close());
  }

  /** Sends the begin of the transaction, unless it is open, and the deferred statements. */
  #start(): Promise<Answer>[] {
    const begin = this.#open ? [] : this.#begin();
    const deferred = this.#deferred.map(({ text, values }) => this.#connection.query(text, values));
    this.#deferred = [];
    return [...begin, ...deferred];
  }

  #begin(): Promise<Answer>[] {
    this.#open = true;
    const { writer, number } = this.#mark;
    return [
      this.#connection.query("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
      this.#connection.query(MARK, [writer, String(number), String(Date.now())]),
    ];
  }
}

/** Waits for all queries, in the order in which they were sent. @throws the first error */
async function afterAll(before: readonly Promise<Answer>[], last: Promise<Answer>): Promise<Answer> {
  // Also when one fails: the next query must not be sent before PostgreSQL has answered all.
  await Promise.allSettled([...before, last]);
  for (const query of before) await query;
  return last;
}
