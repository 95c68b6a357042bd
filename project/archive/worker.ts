/** Runs in a thread: compresses the segments that it is sent. */
import { parentPort } from "node:worker_threads";
import type { Segment } from "./layout.ts";
import { type CompressedSegment, compressSegment } from "./segment.ts";

/** The segment, or why it could not be made. */
export type SegmentReply = CompressedSegment | { message: string };

parentPort?.on("message", (segment: Segment) => {
  try {
    const compressed = compressSegment(segment);
    parentPort?.postMessage(compressed satisfies SegmentReply, [compressed.bytes.buffer]);
  } catch (error) {
    parentPort?.postMessage({ message: (error as Error).message } satisfies SegmentReply);
  }
});
