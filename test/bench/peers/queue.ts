/** A queue of a peer. Payloads are JSON objects; `t` is the time of the trigger in microseconds since 1970. */
export interface Payload {
  t: string;
  text?: string;
}

export type Handler = (payload: Payload) => Promise<void>;

export interface Queue {
  /** Creates the schema. */
  open(url: string): Promise<void>;
  /** Adds one job, as a request does. It is durable when the promise resolves. */
  add(payload: Payload): Promise<void>;
  /** Adds many jobs in batches. */
  fill(payloads: readonly Payload[]): Promise<void>;
  /** Starts the workers. @returns a function that stops them */
  work(handler: Handler): Promise<() => Promise<unknown>>;
  /** Whether all jobs are recorded as completed. */
  isDrained(): Promise<boolean>;
}

/** Jobs of one batch of `fill`, and of a fetch where the peer fetches batches. */
export const batchSize = 500;

/** Handlers that may run at once in one worker. */
export const concurrency = 100;

export function batches<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / batchSize);
  return Array.from({ length: count }, (_, n) => items.slice(n * batchSize, (n + 1) * batchSize));
}
