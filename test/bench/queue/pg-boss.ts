/** pg-boss, tuned: loops that fetch a batch and complete it, without pauses while there are jobs, and LISTEN/NOTIFY. */
import { batchSize, type Contestant, payloadOf } from "./contestant.ts";
import { loadPeer } from "./peer.ts";

interface Job {
  id: string;
  data: { job: number };
}

interface Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  on(event: "error", listener: () => void): void;
  createQueue(name: string, options: object): Promise<void>;
  insert(name: string, jobs: object[]): Promise<unknown>;
  send(name: string, data: object): Promise<unknown>;
  fetch(name: string, options: object): Promise<Job[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
  work(name: string, options: object, handler: (jobs: Job[]) => Promise<void>): Promise<string>;
}

const queue = "job";
const loops = 4;

export class PgBoss implements Contestant {
  #boss: Boss | null = null;
  #completed = 0;
  #onStart: (job: number) => void = () => {};

  async open(url: string, onStart: (job: number) => void): Promise<void> {
    const { PgBoss: Class } = await loadPeer<{ PgBoss: new (options: object) => Boss }>("pg-boss");
    this.#onStart = onStart;
    this.#boss = new Class({
      connectionString: url,
      max: 9,
      useListenNotify: true,
      supervise: false,
      schedule: false,
    });
    this.#boss.on("error", () => {});
    await this.#boss.start();
    await this.#boss.createQueue(queue, { notify: true });
  }

  async enqueue(from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at += batchSize) {
      const length = Math.min(batchSize, from + count - at);
      await this.#boss?.insert(
        queue,
        Array.from({ length }, (_, index) => ({ data: payloadOf(at + index) })),
      );
    }
  }

  async enqueueOne(job: number): Promise<void> {
    await this.#boss?.send(queue, payloadOf(job));
  }

  /** A `work` for latency, which a notification wakes; `drained` runs loops of its own for throughput. */
  async startWorkers(): Promise<void> {
    await this.#boss?.work(
      queue,
      { batchSize, pollingIntervalSeconds: 0.5, localConcurrency: 1 },
      async (jobs) => {
        for (const { data } of jobs) this.#onStart(data.job);
        this.#completed += jobs.length;
      },
    );
  }

  async drained(count: number): Promise<void> {
    const loop = async (): Promise<void> => {
      while (this.#completed < count) {
        const jobs = (await this.#boss?.fetch(queue, { batchSize })) ?? [];
        if (jobs.length === 0) return;
        for (const { data } of jobs) this.#onStart(data.job);
        await this.#boss?.complete(
          queue,
          jobs.map(({ id }) => id),
        );
        this.#completed += jobs.length;
      }
    };
    await Promise.all(Array.from({ length: loops }, loop));
    while (this.#completed < count) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async close(): Promise<void> {
    await this.#boss?.stop({ graceful: false });
  }
}
