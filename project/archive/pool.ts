import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Segment } from "./layout.ts";
import { type CompressedSegment, compressSegment } from "./segment.ts";
import type { SegmentReply } from "./worker.ts";

/** More than these compress faster than one disk and one hash can follow. */
const maxWorkers = 4;
/** Fewer segments are compressed sooner than a thread has started. */
const minSegmentsForWorkers = 3;

/** Compresses segments in threads, as many at a time as the machine has cores, and gives them in their order. */
export async function* compressAll(
  segments: readonly Segment[],
): AsyncGenerator<CompressedSegment, void, void> {
  if (segments.length < minSegmentsForWorkers) {
    for (const segment of segments) {
      yield compressSegment(segment);
      await setImmediate();
    }
    return;
  }
  const count = Math.min(maxWorkers, availableParallelism(), segments.length);
  const workers = Array.from({ length: count }, () => new SegmentWorker());
  try {
    const running: Promise<CompressedSegment>[] = [];
    let begun = 0;
    for (let done = 0; done < segments.length; done++) {
      // Each worker has one segment under way and one waiting, so that none is ever idle.
      for (; begun < segments.length && begun < done + 2 * count; begun++) {
        const segment = segments[begun];
        const worker = workers[begun % count];
        if (segment !== undefined && worker !== undefined) running.push(worker.compress(segment));
      }
      const next = running.shift();
      if (next !== undefined) yield await next;
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
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

  compress(segment: Segment): Promise<CompressedSegment> {
    const { promise, resolve, reject } = Promise.withResolvers<CompressedSegment>();
    // Whoever waits for an earlier segment learns of a failure there first; this one must not go unhandled.
    promise.catch(() => {});
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
