/**
 * One connection to PostgreSQL.
 *
 * States: *open*, *lost* when the connection has ended for any reason. A lost connection rejects every query with
 * `ConnectionLost` and is never opened again. Queries are pipelined: several may be on their way, and PostgreSQL runs them
 * in order.
 *
 * The driver is `pg`. `postgres` 3.4.9 lost: it ends the process when a backend dies between two of its writes.
 */
import { Socket } from "node:net";
import type { Client, QueryResult } from "pg";
import type { Row } from "../engine.ts";
import { ConnectionLost, fromDriver, PostgresError } from "./errors.ts";
import { type Bound, parserOf } from "./values.ts";

/** Limits of each session, in milliseconds. */
export interface Timeouts {
  connectMs: number;
  statementMs: number;
  lockMs: number;
}

export interface Answer {
  rows: Row[];
  /** The command tag, for example `COMMIT`. */
  command: string;
}

/** PostgreSQL ends a statement at its timeout. A connection that is silent for longer is dead. */
const silenceMs = 5_000;

/** The names of prepared statements, by text. */
const names = new Map<string, string>();

const types = { getTypeParser: (type: number) => parserOf(type) };

export class Connection {
  /** Called with the payload of each notification. */
  onNotification: (payload: string) => void = () => {};
  /** Called once when the connection is lost. */
  onLost: () => void = () => {};
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #statementMs: number;
  readonly #watch: NodeJS.Timeout;
  #lost: ConnectionLost | null = null;
  /** Queries without an answer, and the time of the last answer or of the first query after a pause. */
  #pending = 0;
  #activeAtMs = 0;
  #corked = false;

  private constructor(client: Client, socket: Socket, statementMs: number) {
    this.#client = client;
    this.#socket = socket;
    this.#statementMs = statementMs;
    this.#watch = setInterval(() => this.#checkSilence(), 1_000).unref();
    client.on("error", (error) => this.#lose(error.message));
    client.on("end", () => this.#lose("the connection has ended"));
    client.on("notification", ({ payload }) => this.onNotification(payload ?? ""));
  }

  /** @throws PostgresError or ConnectionLost */
  static async open(url: string, timeouts: Timeouts, applicationName: string): Promise<Connection> {
    const { default: pg } = await import("pg");
    const socket = new Socket();
    const options = {
      connectionString: url,
      // Not in the types of version 8.23.1.
      pipeline: true,
      stream: () => socket,
      keepAlive: true,
      types,
      application_name: applicationName,
      connectionTimeoutMillis: timeouts.connectMs,
      statement_timeout: timeouts.statementMs,
      lock_timeout: timeouts.lockMs,
      idle_in_transaction_session_timeout: timeouts.statementMs,
    };
    const client = new pg.Client(options);
    // An error during `connect` rejects its promise, and some are also emitted.
    const ignore = (): void => {};
    client.on("error", ignore);
    try {
      await client.connect();
    } catch (error) {
      socket.destroy();
      throw fromDriver(error);
    }
    client.off("error", ignore);
    const connection = new Connection(client, socket, timeouts.statementMs);
    try {
      // A commit must be on disk before it is acknowledged, whatever the default of the database.
      await connection.query(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
      );
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** Runs a prepared statement. @throws PostgresError or ConnectionLost */
  query(text: string, values: readonly Bound[] = []): Promise<Answer> {
    let name = names.get(text);
    if (name === undefined) {
      name = `s${names.size}`;
      names.set(text, name);
    }
    return this.#run({ text, name, values: [...values], queryMode: "extended" });
  }

  /** Runs a text of one or more statements without parameters. */
  script(text: string): Promise<Answer> {
    return this.#run({ text });
  }

  /** Ends the connection at once. */
  close(): void {
    this.#lose("the connection was closed");
  }

  #run(query: { text: string; name?: string; values?: Bound[]; queryMode?: string }): Promise<Answer> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#cork();
    if (this.#pending++ === 0) this.#activeAtMs = performance.now();
    return new Promise((resolve, reject) => {
      // A callback and not a promise: the driver captures a stack for each rejected promise.
      const done = (error: Error | null, result: QueryResult<Row> | QueryResult<Row>[] | undefined): void => {
        this.#pending--;
        this.#activeAtMs = performance.now();
        const last = Array.isArray(result) ? result.at(-1) : result;
        if (error) reject(this.#failed(error));
        else resolve({ rows: last?.rows ?? [], command: last?.command ?? "" });
      };
      this.#client.query(query as never, done as never);
    });
  }

  /** Sends the queries of one turn of the event loop with one system call. */
  #cork(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#socket.cork();
    process.nextTick(() => {
      this.#corked = false;
      this.#socket.uncork();
    });
  }

  #failed(error: unknown): Error {
    const mapped = fromDriver(error);
    if (mapped instanceof PostgresError) return mapped;
    this.#lose(mapped.message);
    return mapped;
  }

  #checkSilence(): void {
    if (this.#pending === 0 || performance.now() - this.#activeAtMs < this.#statementMs + silenceMs) return;
    this.#lose("PostgreSQL does not answer");
  }

  #lose(reason: string): void {
    if (this.#lost !== null) return;
    this.#lost = new ConnectionLost(`The connection to PostgreSQL was lost: ${reason}.`);
    clearInterval(this.#watch);
    // The driver then rejects the queries without an answer.
    this.#socket.destroy();
    this.onLost();
  }
}
