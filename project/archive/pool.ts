import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Segment } from "./layout.ts";
import { type CompressedSegment, compressSegment } from "./segment.ts";
import type { SegmentReply } from "./worker.ts";

/** More than these compress faster than one disk and one hash can follow. */
const maxWorkers = 3;
/** Fewer segments are compressed sooner than a thread has started. */
const minSegmentsForWorkers = 3;
/** Segments that a worker has under way or waiting, so that it goes on while this thread is busy with one. */
const perWorker = 2;

/** Compresses segments on as many cores as the machine has, this thread's among them, and gives them in their order. */
export async function* compressAll(
  segments: readonly Segment[],
): AsyncGenerator<CompressedSegment, void, void> {
  const spareCores = availableParallelism() - 1;
  const others = segments.length < minSegmentsForWorkers ? 0 : Math.min(maxWorkers, spareCores);
  const workers = Array.from({ length: others }, () => new SegmentWorker());
  // How far ahead of the next result: everything that is ready is held in memory.
  const ahead = 2 * perWorker * (others + 1);
  const tasks: Task[] = [];
  try {
    for (let done = 0; done < segments.length; done++) {
      const end = Math.min(segments.length, done + ahead);
      for (;;) {
        for (const worker of workers) {
          while (tasks.length < end && worker.waiting < perWorker) {
            tasks.push(begun(segments[tasks.length], (segment) => worker.compress(segment)));
          }
        }
        // Answers of workers come in here.
        await setImmediate();
        if (tasks[done]?.settled === true || tasks.length === end) break;
        tasks.push(begun(segments[tasks.length], async (segment) => compressSegment(segment)));
      }
      const compressed = await tasks[done]?.result;
      if (compressed !== undefined) yield compressed;
      delete tasks[done];
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

interface Task {
  result: Promise<CompressedSegment | undefined>;
  settled: boolean;
}

function begun(
  segment: Segment | undefined,
  compress: (segment: Segment) => Promise<CompressedSegment>,
): Task {
  const result = segment === undefined ? Promise.resolve(undefined) : compress(segment);
  const task: Task = { result, settled: false };
  const settle = (): void => {
    task.settled = true;
  };
  // A failure counts as handled: whoever waits for an earlier segment may never come to this one.
  result.then(settle, settle);
  return task;
}

/** One thread, which answers in the order of the questions. */
class SegmentWorker {
  readonly #worker: Worker;
  readonly #waiting: { resolve(segment: CompressedSegment): void; reject(error: Error): void }[] = [];

  constructor() {
    // The sources run as they are, or compiled beside each other.
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#worker = new Worker(new URL(`./worker.${extension}`, import.meta.url));
    this.#worker.on("message", (reply: SegmentReply) => {
      const asked = this.#waiting.shift();
      if ("message" in reply) asked?.reject(new Error(reply.message));
      else asked?.resolve(reply);
    });
    this.#worker.on("error", (error: Error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("Cannot package the project: a thread has ended.")));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  compress(segment: Segment): Promise<CompressedSegment> {
    const { promise, resolve, reject } = Promise.withResolvers<CompressedSegment>();
    this.#waiting.push({ resolve, reject });
    this.#worker.postMessage(segment);
    return promise;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
