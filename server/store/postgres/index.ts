/**
 * The engine for many processes: PostgreSQL.
 *
 * Each write is a transaction on a connection of its own. Callers that write at the same time share transactions through
 * `Batch`, which grows while no connection is free, and PostgreSQL syncs the commits of several connections together. A
 * shared transaction of different programs lost: a failure would repeat its neighbours, and each would hold the locks of all.
 *
 * A write is repeated after a serialization failure, a deadlock and a lost connection, because these roll the transaction
 * back. When the connection is lost during the commit, `commit_marks` says whether it took effect (`transaction.ts`).
 * A write that gets no connection within `waitMs` fails with `StoreUnavailable`.
 */
import { randomUUID } from "node:crypto";
import { setImmediate, setTimeout } from "node:timers/promises";
import { describeDatabase } from "../../config/database-url.ts";
import { log } from "../../telemetry/log/index.ts";
import { metrics, secondsSince } from "../../telemetry/metrics/index.ts";
import type { Engine, Listener, Program, Row, Topic } from "../engine.ts";
import { StoreLost, StoreUnavailable } from "../unavailable.ts";
import { Connection, type Timeouts } from "./connection.ts";
import { ConnectionLost, isOverload, isTransient, PostgresError } from "./errors.ts";
import { migratePostgres } from "./migrate.ts";
import { Notifications } from "./notifications.ts";
import { Pool, type Poolable } from "./pool.ts";
import { prepare } from "./statement.ts";
import { type Committed, type Mark, NeedsSavepoints, OutcomeUnknown, runTransaction } from "./transaction.ts";

export interface PostgresOptions {
  url: string;
  /** Open connections, at least 3: one receives notifications, the rest serve writes and reads. Default: 9. */
  connections?: number;
  /** For how long a call waits for a connection. Default: 5,000. */
  waitMs?: number;
  timeouts?: Partial<Timeouts>;
  /** For how long the outcome of a commit is looked up, in milliseconds. Default: 30,000. */
  outcomeMs?: number;
  /** The name of the connections in `pg_stat_activity`. Default: `svc`, which marks servers. */
  applicationName?: string;
}

const maxWaiting = 10_000;
const maxRepeats = 20;
/** An insert waits for a transaction that inserts the row; a SELECT … FOR UPDATE would not see it. */
const LOCK_MARK = `INSERT INTO commit_marks (writer, number, at) VALUES ($1, 0, $2)
ON CONFLICT (writer) DO UPDATE SET at = excluded.at RETURNING number`;

/** A connection for writes, with its row in `commit_marks`. */
class Writer implements Poolable {
  readonly connection: Connection;
  readonly id: string = randomUUID();
  #number = 0;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get isLost(): boolean {
    return this.connection.isLost;
  }

  nextMark(): Mark {
    return { writer: this.id, number: ++this.#number };
  }

  close(): void {
    this.connection.close();
  }
}

/** Connects and migrates the database. @throws Error with one sentence, without the password */
export async function openPostgres(options: PostgresOptions): Promise<Engine> {
  const database = describeDatabase(options.url);
  try {
    const engine = new PostgresEngine(options);
    await engine.start();
    return engine;
  } catch (error) {
    if (!(error instanceof ConnectionLost || error instanceof PostgresError)) throw error;
    throw new Error(`Cannot open the store ${database}: ${error.message}`, { cause: error });
  }
}

class PostgresEngine implements Engine {
  readonly ordered = false;
  readonly #writers: Pool<Writer>;
  readonly #readers: Pool<Connection>;
  readonly #notifications: Notifications;
  readonly #open: () => Promise<Connection>;
  readonly #openWith: (limits: Partial<Timeouts>) => Promise<Connection>;
  readonly #waitMs: number;
  readonly #outcomeMs: number;
  readonly #running = new Set<Promise<unknown>>();
  #closing = false;

  constructor(options: PostgresOptions) {
    const { url, connections = 9, waitMs = 5_000, timeouts, applicationName = "svc" } = options;
    const limits = { connectMs: 5_000, statementMs: 30_000, lockMs: 10_000, ...timeouts };
    this.#waitMs = waitMs;
    this.#outcomeMs = options.outcomeMs ?? 30_000;
    this.#openWith = (other) => Connection.open(url, { ...limits, ...other }, applicationName);
    this.#open = () => Connection.open(url, limits, applicationName);
    const bounds = { maxWaiting, waitMs };
    const writers = Math.floor((connections - 1) / 2);
    this.#writers = new Pool({ open: async () => new Writer(await this.#open()), max: writers, ...bounds });
    this.#readers = new Pool({ open: this.#open, max: connections - 1 - writers, ...bounds });
    this.#notifications = new Notifications(this.#open);
  }

  async start(): Promise<void> {
    // A step of the schema may take long, and so may the wait for another process that applies it.
    const connection = await this.#openWith({ statementMs: 3_600_000, lockMs: 3_600_000 });
    try {
      await migratePostgres(connection);
      await warnAboutDurability(connection);
    } finally {
      connection.close();
    }
    await this.#notifications.start();
  }

  async write<Result>(program: () => Program<Result>): Promise<Result> {
    if (this.#closing) throw new Error("Cannot write: the store is closed.");
    const written = this.#write(program);
    this.#running.add(written);
    try {
      return await written;
    } finally {
      this.#running.delete(written);
    }
  }

  async read<Result>(program: () => Program<Result>): Promise<Result> {
    return this.#repeat(async () => {
      const connection = await this.#readers.acquire();
      try {
        return await runRead(connection, program);
      } finally {
        this.#readers.release(connection);
      }
    });
  }

  listen(topic: Topic, listener: Listener): () => void {
    return this.#notifications.listen(topic, listener);
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    await Promise.allSettled(this.#running);
    this.#notifications.close();
    this.#writers.close();
    this.#readers.close();
  }

  async #write<Result>(program: () => Program<Result>): Promise<Result> {
    // Rows of the same turn of the event loop join the batch.
    await setImmediate();
    let savepoints = false;
    return this.#repeat(async () => {
      const writer = await this.#writers.acquire();
      const mark = writer.nextMark();
      const payloads = this.#notifications.payloads.bind(this.#notifications);
      const hints = this.#notifications.hints.bind(this.#notifications);
      let committed: Committed<Result>;
      try {
        const startedMs = performance.now();
        committed = await runTransaction(writer.connection, program, { mark, savepoints, payloads, hints });
        metrics.commitDuration.observe(secondsSince(startedMs));
      } catch (error) {
        if (error instanceof NeedsSavepoints) savepoints = true;
        else metrics.commitFailures.add();
        if (!(error instanceof OutcomeUnknown) || !(await this.#wasCommitted(mark))) throw error;
        committed = error.result as Committed<Result>;
      } finally {
        this.#writers.release(writer);
      }
      this.#notifications.committed(committed.notifications);
      return committed.value;
    });
  }

  /** Repeats work after errors that rolled it back. */
  async #repeat<Result>(work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#waitMs;
    for (let repeats = 0; ; repeats++) {
      try {
        return await work();
      } catch (error) {
        const isLost = error instanceof ConnectionLost;
        const mayRepeat = isTransient(error) || error instanceof NeedsSavepoints || isLost;
        if (isLost && performance.now() > deadline) {
          throw new StoreUnavailable(`The store is unreachable: ${error.message}`, { cause: error });
        }
        if (isOverload(error)) {
          throw new StoreUnavailable(`The store is overloaded: ${(error as Error).message}`, {
            cause: error,
          });
        }
        if (!mayRepeat || repeats >= maxRepeats) throw error;
        await setTimeout(Math.random() * Math.min(2 ** repeats, 100));
      }
    }
  }

  /** Whether the transaction of a mark took effect. Waits for the end of a transaction that still runs, and has its row. */
  async #wasCommitted({ writer, number }: Mark): Promise<boolean> {
    const deadline = performance.now() + this.#outcomeMs;
    for (;;) {
      try {
        const connection = await this.#readers.acquire();
        try {
          const { rows } = await connection.query(LOCK_MARK, [writer, String(Date.now())]);
          return rows[0]?.number === number;
        } finally {
          this.#readers.release(connection);
        }
      } catch (error) {
        if (performance.now() > deadline) {
          throw new StoreLost("The store is unreachable, and the outcome of a write is unknown.", {
            cause: error,
          });
        }
        await setTimeout(100);
      }
    }
  }
}

async function runRead<Result>(connection: Connection, program: () => Program<Result>): Promise<Result> {
  const steps = program();
  let step = steps.next();
  while (!step.done) {
    let rows: Row[] = [];
    if (!("topic" in step.value)) {
      const prepared = prepare(step.value);
      try {
        if (prepared !== null) rows = (await connection.query(prepared.text, prepared.values)).rows;
      } catch (error) {
        if (error instanceof ConnectionLost) throw error;
        step = steps.throw(error);
        continue;
      }
    }
    step = steps.next(rows);
  }
  return step.value;
}

/** The operator may accept the loss of recent commits, but must know it. */
async function warnAboutDurability(connection: Connection): Promise<void> {
  for (const setting of ["fsync", "full_page_writes"]) {
    const { rows } = await connection
      .query("SELECT current_setting($1) AS value", [setting])
      .catch(() => ({ rows: [] }));
    if (rows[0]?.value !== "off") continue;
    log.warn(`PostgreSQL runs with ${setting} = off: a crash of its machine may lose acknowledged work.`);
  }
}
