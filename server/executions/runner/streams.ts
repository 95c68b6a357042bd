/** Standard output and standard error of users' code, cut into lines for the log of the execution that writes. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { current } from "./current-attempt.ts";
import type { LogSink } from "./interfaces.ts";
import { LineBuffer } from "./line-buffer.ts";

type Chunk = string | ArrayBufferView;

/** The streams by their descriptors. What is written to standard error is no error yet. */
const levels = new Map<unknown, "info" | "warn">([
  [1, "info"],
  [2, "warn"],
]);

/**
 * Takes what is written through `process.stdout` and `process.stderr`, and to their descriptors through `node:fs`, as
 * some loggers do. What gets past this comes to the server as lines that belong to no execution.
 */
export function captureStreams(sink: LogSink): void {
  const stray = new LineBuffer((level, line) => sink.write(undefined, level, line));
  const write = (descriptor: unknown, text: string): void => {
    const execution = current();
    const buffer = execution?.live ? execution.lines : stray;
    buffer.add(levels.get(descriptor) ?? "info", text);
  };

  for (const [descriptor, stream] of [
    [1, process.stdout],
    [2, process.stderr],
  ] as const) {
    stream.write = (chunk: Chunk, encoding?: unknown, callback?: unknown): boolean => {
      write(descriptor, toText(chunk, encoding));
      const done = typeof encoding === "function" ? encoding : callback;
      if (typeof done === "function") process.nextTick(done);
      return true;
    };
  }

  const { writeSync, write: writeAsync } = fs;
  fs.writeSync = ((descriptor: number, chunk: Chunk, ...rest: unknown[]): number => {
    if (!levels.has(descriptor))
      return (writeSync as (...all: unknown[]) => number)(descriptor, chunk, ...rest);
    const piece = part(chunk, rest);
    write(descriptor, toText(piece, rest[1]));
    return byteLength(piece);
  }) as typeof fs.writeSync;
  fs.write = ((descriptor: number, chunk: Chunk, ...rest: unknown[]): void => {
    const done = rest.at(-1);
    if (!levels.has(descriptor) || typeof done !== "function") {
      (writeAsync as (...all: unknown[]) => void)(descriptor, chunk, ...rest);
      return;
    }
    const piece = part(chunk, rest);
    write(descriptor, toText(piece, rest[1]));
    process.nextTick(done, null, byteLength(piece), chunk);
  }) as typeof fs.write;
  syncBuiltinESMExports();
}

/** What of a buffer `write(fd, buffer, offset, length)` means; a string is meant whole. */
function part(chunk: Chunk, [offset, length]: unknown[]): Chunk {
  if (typeof chunk === "string" || typeof offset !== "number") return chunk;
  const end = typeof length === "number" ? offset + length : undefined;
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).subarray(offset, end);
}

function byteLength(chunk: Chunk): number {
  return typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength;
}

function toText(chunk: unknown, encoding: unknown): string {
  if (typeof chunk === "string") {
    return encoding === "hex" || encoding === "base64" ? Buffer.from(chunk, encoding).toString() : chunk;
  }
  if (ArrayBuffer.isView(chunk))
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString();
  throw new TypeError("Cannot write what is neither a string nor a buffer to a standard stream");
}
