import { closeSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { deflatePart } from "../deflate/deflate.ts";
import { headerBytes, writeHeaders } from "./header.ts";
import type { PlacedFile, Segment } from "./layout.ts";

export interface CompressedSegment {
  /** Raw deflate data (RFC 1951) that ends at a byte: those of all segments in a row are one stream. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Of what was compressed. */
  crc: number;
}

/** Reads and compresses one segment. @throws Error when a file is not as large as it was */
export function compressSegment(segment: Segment): CompressedSegment {
  const content = fillSegment(segment);
  const { before, last } = segment;
  return { bytes: deflatePart(content, before, last), crc: crc32(content.subarray(before)) };
}

/** The bytes of one segment, and those before it, uncompressed. */
export function fillSegment({ start, before, length, entries }: Segment): Uint8Array {
  const bytes = new Uint8Array(before + length);
  const headers = writeHeaders(entries);
  for (const [index, entry] of entries.entries()) {
    const header = headers[index];
    const at = entry.offset - (start - before);
    if (header !== undefined && at + header.length > 0) {
      bytes.set(header.subarray(Math.max(0, -at), Math.max(0, bytes.length - at)), Math.max(0, at));
    }
    fillContent(bytes, entry, at + headerBytes(entry.path));
  }
  return bytes;
}

/** `at` is where the content begins; it may be before the segment, and go on after it. */
function fillContent(bytes: Uint8Array, entry: PlacedFile, at: number): void {
  const { sizeBytes, content } = entry;
  const from = Math.max(0, -at);
  const to = Math.min(sizeBytes, bytes.length - at);
  if (from >= to) return;
  if (content !== undefined) bytes.set(content.subarray(from, to), at + from);
  else readExactly(entry, bytes, at + from, from, to);
}

/** Reads a file from one position to another, and if that is its end, makes sure that nothing comes after it. */
function readExactly(entry: PlacedFile, bytes: Uint8Array, at: number, from: number, to: number): void {
  const wanted = to - from;
  // One byte more is asked for: it would show in the same call that the file has grown. What follows is still empty.
  const spare = to === entry.sizeBytes ? 1 : 0;
  const room = Math.min(wanted + spare, bytes.length - at);
  const file = openSync(entry.absolutePath, "r");
  try {
    let filled = 0;
    while (filled < wanted) {
      const count = readSync(file, bytes, at + filled, room - filled, from + filled);
      if (count === 0) break;
      filled += count;
    }
    const grown = spare > room - wanted && readSync(file, new Uint8Array(1), 0, 1, to) > 0;
    if (filled !== wanted || grown)
      throw new Error(`Cannot package ${entry.path}: it changed while it was read.`);
  } finally {
    closeSync(file);
  }
}
