/** graphile-worker, tuned: a local queue of a batch, and batched completions. */
import { batchSize, type Contestant, payloadOf } from "./contestant.ts";
import { loadPeer } from "./peer.ts";

interface Utils {
  migrate(): Promise<void>;
  addJob(name: string, payload: object): Promise<unknown>;
  addJobs(jobs: object[]): Promise<unknown>;
  withPgClient<T>(work: (client: { query(sql: string): Promise<{ rows: T[] }> }) => Promise<T>): Promise<T>;
  release(): Promise<void>;
}

interface Worker {
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => object;
}

export class Graphile implements Contestant {
  #worker: Worker | null = null;
  #utils: Utils | null = null;
  #runner: { stop(): Promise<void> } | null = null;
  #url = "";
  #onStart: (job: number) => void = () => {};

  async open(url: string, onStart: (job: number) => void): Promise<void> {
    this.#worker = await loadPeer<Worker>("graphile-worker");
    this.#url = url;
    this.#onStart = onStart;
    this.#utils = await this.#worker.makeWorkerUtils({ connectionString: url, logger: this.#logger() });
    await this.#utils.migrate();
  }

  async enqueue(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += batchSize) {
      const length = Math.min(batchSize, from + count - at);
      await this.#utils?.addJobs(
        Array.from({ length }, (_, index) => ({ identifier: "job", payload: payloadOf(at + index) })),
      );
    }
  }

  async enqueueOne(job: number): Promise<void> {
    await this.#utils?.addJob("job", payloadOf(job));
  }

  async startWorkers(): Promise<void> {
    this.#runner =
      (await this.#worker?.run({
        preset: {
          worker: {
            connectionString: this.#url,
            maxPoolSize: 9,
            concurrentJobs: 100,
            pollInterval: 500,
            localQueue: { size: batchSize },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
            logger: this.#logger(),
          },
        },
        noHandleSignals: true,
        taskList: { job: async (payload: { job: number }) => this.#onStart(payload.job) },
      })) ?? null;
  }

  async drained(): Promise<void> {
    const sql = "SELECT COUNT(*)::int AS count FROM graphile_worker._private_jobs";
    for (;;) {
      const rest = await this.#utils?.withPgClient<{ count: number }>(
        async (client) => (await client.query(sql)).rows[0] ?? { count: 1 },
      );
      if (rest?.count === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async close(): Promise<void> {
    await this.#runner?.stop();
    await this.#utils?.release();
  }

  #logger(): object | undefined {
    return this.#worker === null ? undefined : new this.#worker.Logger(() => () => {});
  }
}
