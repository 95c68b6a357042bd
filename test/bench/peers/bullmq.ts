/** BullMQ on a Redis that syncs its log before each answer (`appendfsync always`). */
import { loadPeer } from "../queue/peer.ts";
import { batches, concurrency, type Handler, type Payload, type Queue } from "./queue.ts";

interface Jobs {
  add(name: string, data: object, options: object): Promise<unknown>;
  addBulk(jobs: object[]): Promise<unknown>;
}

interface Library {
  Queue: new (name: string, options: object) => Jobs;
  Worker: new (
    name: string,
    handler: (job: { data: Payload }) => Promise<void>,
    options: object,
  ) => { on(event: "completed" | "error", listener: () => void): void; close(): Promise<void> };
}

const name = "job";

export async function openBullmq(): Promise<Queue> {
  const library = await loadPeer<Library>("bullmq");
  const opts = { removeOnComplete: true };
  let jobs: Jobs;
  let connection: object;
  let added = 0;
  let completed = 0;
  return {
    async open(url) {
      const { hostname, port } = new URL(url);
      connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
      jobs = new library.Queue(name, { connection });
    },
    async add(payload) {
      added++;
      await jobs.add(name, payload, opts);
    },
    async fill(payloads) {
      added += payloads.length;
      for (const batch of batches(payloads)) await jobs.addBulk(batch.map((data) => ({ name, data, opts })));
    },
    async work(handler: Handler) {
      const worker = new library.Worker(name, ({ data }) => handler(data), { connection, concurrency });
      worker.on("completed", () => {
        completed++;
      });
      worker.on("error", () => {});
      return () => worker.close();
    },
    isDrained: async () => completed >= added,
  };
}
