/** Writes on the connection: a batch is one transaction, and a write that fails is rolled back alone. */
import { metrics, secondsSince } from "../../telemetry/metrics/index.ts";
import type { Program, Row } from "../engine.ts";
import type { Connection } from "./connection.ts";
import type { PendingNotifications } from "./pending-notifications.ts";

export interface PendingWrite {
  program: () => Program<unknown>;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

export class Transactions {
  readonly #connection: Connection;
  readonly #notifications: PendingNotifications;

  constructor(connection: Connection, notifications: PendingNotifications) {
    this.#connection = connection;
    this.#notifications = notifications;
  }

  /** @returns the functions that settle the callers' promises; null when another process holds the write lock */
  store(batch: readonly PendingWrite[]): (() => void)[] | null {
    const startedMs = performance.now();
    try {
      if (!this.#connection.begin()) return null;
      try {
        const settle = this.#commit(batch, false);
        metrics.commitDuration.observe(secondsSince(startedMs));
        return settle;
      } catch {
        // A write or the commit failed: repeat the batch with a savepoint for each write, so that only the failing one is lost.
      }
      return this.#connection.begin() ? this.#commit(batch, true) : null;
    } catch (error) {
      metrics.commitFailures.add();
      return batch.map((write) => () => write.reject(error));
    }
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
      this.#connection.all("COMMIT", []);
      return settle;
    } catch (error) {
      this.#notifications.clear();
      this.#connection.rollback();
      throw error;
    }
  }

  #run(write: PendingWrite): () => void {
    const value = this.drive(write.program);
    return () => write.resolve(value);
  }

  /** The notifications of a failed write are sent too: receivers read the state, and find it unchanged. */
  #runGuarded(write: PendingWrite): () => void {
    this.#connection.all("SAVEPOINT write", []);
    try {
      const settle = this.#run(write);
      this.#connection.all("RELEASE write", []);
      return settle;
    } catch (error) {
      this.#connection.all("ROLLBACK TO write", []);
      this.#connection.all("RELEASE write", []);
      return () => write.reject(error);
    }
  }

  /** Runs a program. Outside a transaction it sees committed rows only. */
  drive<Result>(program: () => Program<Result>): Result {
    const steps = program();
    let step = steps.next();
    while (!step.done) {
      const { value } = step;
      if ("topic" in value) {
        this.#notifications.add(value);
        step = steps.next([]);
        continue;
      }
      let rows: Row[];
      try {
        rows = this.#connection.execute(value);
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(rows);
    }
    return step.value;
  }
}
