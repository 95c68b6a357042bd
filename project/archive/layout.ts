/**
 * Where everything stands in an archive before any of it is read: sizes are known, so offsets are. An archive is cut
 * into segments of one length, whatever files end or begin there, and each can be made without the others.
 */

import { windowBytes } from "../deflate/deflate.ts";
import type { CollectedFile } from "../package-file.ts";
import { BLOCK_BYTES, headerBytes, padded } from "./header.ts";

/** Part of the format: with another length the same files give other, equally valid bytes. */
export const segmentBytes: number = 2 * 1024 * 1024;

export interface Segment {
  /** Of its first byte in the archive. */
  start: number;
  /** {@link segmentBytes}, the last segment excepted. */
  length: number;
  last: boolean;
  /** How many bytes before `start` the compressor looks back on: {@link windowBytes}, none for the first segment. */
  before: number;
  /** Those that have a byte here or in what is looked back on, in order. */
  entries: PlacedFile[];
}

export interface PlacedFile extends CollectedFile {
  /** Of its first header in the archive. */
  offset: number;
}

/** The segments of the archive that holds `files` in their order, with two blocks of zeros at its end. */
export function layOut(files: readonly CollectedFile[]): Segment[] {
  const placed: PlacedFile[] = [];
  let end = 0;
  for (const file of files) {
    placed.push({ ...file, offset: end });
    end += headerBytes(file.path) + padded(file.sizeBytes);
  }
  end += 2 * BLOCK_BYTES;
  const segments: Segment[] = [];
  let first = 0;
  for (let start = 0; start < end; start += segmentBytes) {
    const length = Math.min(segmentBytes, end - start);
    const before = start === 0 ? 0 : windowBytes;
    while (first < placed.length && endOf(placed[first]) <= start - before) first++;
    let after = first;
    while (after < placed.length && (placed[after]?.offset ?? 0) < start + length) after++;
    const entries = placed.slice(first, after);
    segments.push({ start, length, last: start + length === end, before, entries });
  }
  return segments;
}

function endOf(file: PlacedFile | undefined): number {
  return file === undefined ? 0 : file.offset + headerBytes(file.path) + padded(file.sizeBytes);
}
