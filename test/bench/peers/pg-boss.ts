/** pg-boss, tuned: loops that fetch a batch and complete it, without pauses while there are jobs, woken by notifications. */
import { loadPeer } from "../queue/peer.ts";
import { batches, batchSize, type Handler, type Payload, type Queue } from "./queue.ts";

interface Job {
  id: string;
  data: Payload;
}

interface Boss {
  start(): Promise<unknown>;
  on(event: "error", listener: () => void): void;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: object[]): Promise<unknown>;
  send(name: string, data: object): Promise<unknown>;
  fetch(name: string, options: object): Promise<Job[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
  work(name: string, options: object, handler: (jobs: Job[]) => Promise<void>): Promise<string>;
  offWork(name: string): Promise<void>;
}

const name = "job";
const loops = 4;

export async function openPgBoss(): Promise<Queue> {
  const { PgBoss } = await loadPeer<{ PgBoss: new (options: object) => Boss }>("pg-boss");
  let boss: Boss;
  let added = 0;
  let completed = 0;
  return {
    async open(url) {
      boss = new PgBoss({
        connectionString: url,
        max: 9,
        useListenNotify: true,
        supervise: false,
        schedule: false,
      });
      boss.on("error", () => {});
      await boss.start();
      await boss.createQueue(name, { notify: true });
    },
    async add(payload) {
      added++;
      await boss.send(name, payload);
    },
    async fill(payloads) {
      added += payloads.length;
      for (const batch of batches(payloads)) {
        await boss.insert(
          name,
          batch.map((data) => ({ data })),
        );
      }
    },
    async work(handler: Handler) {
      const runAll = async (jobs: readonly Job[]): Promise<void> => {
        await Promise.all(jobs.map(({ data }) => handler(data)));
      };
      const drainAll = async (): Promise<void> => {
        for (;;) {
          const jobs = (await boss.fetch(name, { batchSize })) ?? [];
          if (jobs.length === 0) return;
          await runAll(jobs);
          await boss.complete(
            name,
            jobs.map(({ id }) => id),
          );
          completed += jobs.length;
        }
      };
      // Its own worker is woken by notifications, and then drains the queue in several loops.
      await boss.work(name, { batchSize, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        const others = jobs.length < batchSize ? [] : Array.from({ length: loops - 1 }, drainAll);
        await Promise.all([runAll(jobs), ...others]);
        completed += jobs.length;
      });
      return () => boss.offWork(name);
    },
    // Counts here: the last completion of the worker is written right after its handler.
    isDrained: async () => completed >= added,
  };
}
