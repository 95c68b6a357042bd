/** graphile-worker, tuned: a local queue of a batch, batched completions. */
import { loadPeer } from "../queue/peer.ts";
import { batches, batchSize, concurrency, type Handler, type Payload, type Queue } from "./queue.ts";

interface Utils {
  migrate(): Promise<void>;
  addJob(name: string, payload: object): Promise<unknown>;
  addJobs(jobs: object[]): Promise<unknown>;
  withPgClient<T>(work: (client: { query(sql: string): Promise<{ rows: T[] }> }) => Promise<T>): Promise<T>;
}

interface Library {
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => object;
}

export async function openGraphile(): Promise<Queue> {
  const library = await loadPeer<Library>("graphile-worker");
  const logger = new library.Logger(() => () => {});
  let utils: Utils;
  let connectionString = "";
  return {
    async open(url) {
      connectionString = url;
      utils = await library.makeWorkerUtils({ connectionString: url, maxPoolSize: 9, logger });
      await utils.migrate();
    },
    async add(payload) {
      await utils.addJob("job", payload);
    },
    async fill(payloads) {
      for (const batch of batches(payloads)) {
        await utils.addJobs(batch.map((payload) => ({ identifier: "job", payload })));
      }
    },
    async work(handler: Handler) {
      const worker = {
        connectionString,
        maxPoolSize: 9,
        concurrentJobs: concurrency,
        pollInterval: 500,
        localQueue: { size: batchSize },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger,
      };
      const taskList = { job: (payload: Payload) => handler(payload) };
      const runner = await library.run({ preset: { worker }, noHandleSignals: true, taskList });
      return () => runner.stop();
    },
    isDrained: () =>
      utils.withPgClient(async (client) => {
        const sql = "SELECT 1 AS found FROM graphile_worker._private_jobs LIMIT 1";
        return (await client.query(sql)).rows.length === 0;
      }),
  };
}
