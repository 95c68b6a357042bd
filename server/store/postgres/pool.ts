/**
 * A bounded pool of connections. Callers wait in order for a free one, in a queue of limited length and for a limited time:
 * a database that is away or overloaded leads to errors with status 503 and not to a growing queue.
 *
 * A connection is opened when a caller needs it and the pool has room. After a failed attempt, the next one waits for
 * `retryMs`, and the waiting callers stay in the queue until their time is over.
 */
import { StoreUnavailable } from "../unavailable.ts";
import { isConfiguration } from "./errors.ts";

export interface Poolable {
  readonly isLost: boolean;
  close(): void;
}

export interface PoolOptions<C> {
  open(): Promise<C>;
  /** Connections. */
  max: number;
  /** Callers that may wait. */
  maxWaiting: number;
  /** For how long a caller waits. */
  waitMs: number;
}

interface Waiting<C> {
  resolve(connection: C): void;
  reject(reason: unknown): void;
  timer: NodeJS.Timeout;
}

const retryMs = 200;

export class Pool<C extends Poolable> {
  readonly #options: PoolOptions<C>;
  readonly #idle: C[] = [];
  readonly #waiting = new Set<Waiting<C>>();
  readonly #open = new Set<C>();
  #opening = 0;
  #retry: NodeJS.Timeout | null = null;
  #lastError: unknown = null;
  #closed = false;

  constructor(options: PoolOptions<C>) {
    this.#options = options;
  }

  /** @throws StoreUnavailable when no connection becomes free in time */
  acquire(): Promise<C> {
    if (this.#closed) return Promise.reject(new Error("Cannot use the store: it is closed."));
    const idle = this.#takeIdle();
    if (idle !== undefined) return Promise.resolve(idle);
    const { maxWaiting, waitMs } = this.#options;
    if (this.#waiting.size >= maxWaiting) {
      return Promise.reject(
        new StoreUnavailable(`The store is overloaded: ${maxWaiting} requests wait for a connection.`),
      );
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting<C> = {
        resolve,
        reject,
        timer: setTimeout(() => {
          this.#waiting.delete(waiting);
          reject(this.#timedOut());
        }, waitMs),
      };
      this.#waiting.add(waiting);
      this.#grow();
    });
  }

  /** Returns a connection. A lost one is replaced. */
  release(connection: C): void {
    if (connection.isLost || this.#closed) {
      this.#open.delete(connection);
      connection.close();
      if (!this.#closed) this.#grow();
      return;
    }
    this.#give(connection);
  }

  close(): void {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    for (const waiting of this.#waiting) {
      clearTimeout(waiting.timer);
      waiting.reject(new Error("Cannot use the store: it is closed."));
    }
    this.#waiting.clear();
    for (const connection of this.#open) connection.close();
    this.#open.clear();
  }

  #takeIdle(): C | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || !connection.isLost) return connection;
      this.#open.delete(connection);
    }
  }

  #give(connection: C): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#idle.push(connection);
      return;
    }
    this.#waiting.delete(next);
    clearTimeout(next.timer);
    next.resolve(connection);
  }

  /** Opens connections for the waiting callers. */
  #grow(): void {
    while (
      this.#retry === null &&
      this.#opening < this.#waiting.size &&
      this.#open.size + this.#opening < this.#options.max
    ) {
      this.#opening++;
      void this.#add();
    }
  }

  async #add(): Promise<void> {
    try {
      const connection = await this.#options.open();
      this.#opening--;
      this.#lastError = null;
      if (this.#closed) return connection.close();
      this.#open.add(connection);
      this.#give(connection);
    } catch (error) {
      this.#opening--;
      this.#lastError = error;
      if (this.#closed || this.#retry !== null) return;
      this.#retry = setTimeout(() => {
        this.#retry = null;
        this.#grow();
      }, retryMs);
    }
  }

  #timedOut(): StoreUnavailable {
    const seconds = this.#options.waitMs / 1000;
    if (this.#lastError === null) {
      return new StoreUnavailable(`The store is overloaded: no connection was free for ${seconds} s.`);
    }
    const { message } = this.#lastError as Error;
    const verb = isConfiguration(this.#lastError)
      ? "The store refuses connections"
      : "The store is unreachable";
    return new StoreUnavailable(`${verb}: ${message}`, { cause: this.#lastError });
  }
}
