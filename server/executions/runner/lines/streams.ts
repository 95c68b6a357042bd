/** Redirects standard output and standard error of users' code to the log of the current attempt, line by line. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { current } from "../current-attempt.ts";
import type { LogSink } from "../interfaces.ts";
import { LineBuffer } from "./line-buffer.ts";

type Chunk = string | ArrayBufferView;

/** The log level by file descriptor. Many programs write diagnostics to standard error that are not errors. */
const levels = new Map<unknown, "info" | "warn">([
  [1, "info"],
  [2, "warn"],
]);

/**
 * Captures writes to `process.stdout` and `process.stderr`, and writes to their descriptors through `node:fs`, which some
 * loggers use. Other writes reach the server as lines that belong to no execution.
 */
export function captureStreams(sink: LogSink): void {
  const stray = new LineBuffer((level, line) => sink.write(undefined, level, line));
  const write = (descriptor: unknown, text: string): void => {
    const attempt = current();
    const buffer = attempt?.live ? attempt.lines : stray;
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

/** The part of a buffer that `write(fd, buffer, offset, length)` writes. A string is written whole. */
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
  throw new TypeError("Cannot write to a standard stream: the chunk must be a string or a buffer");
}
