/** A queue under measurement. Its handler is trivial and runs in the process of the worker. */
export interface Contestant {
  /** Creates the schema. `onStart` is called when the handler of a job starts. */
  open(url: string, onStart: (job: number) => void): Promise<void>;
  /** Adds the jobs `from` to `from + count - 1`, in batches. */
  enqueue(from: number, count: number): Promise<void>;
  /** Adds one job, as a request does. */
  enqueueOne(job: number): Promise<void>;
  startWorkers(): Promise<void>;
  /** Resolves when all jobs are recorded as completed. */
  drained(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Jobs in one batch of `enqueue`, for every contestant. */
export const batchSize = 500;

/** About 150 bytes, as a small webhook. */
export function payloadOf(job: number): { job: number; text: string } {
  return { job, text: "x".repeat(120) };
}
