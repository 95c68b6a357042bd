/**
 * Writes tar archives (POSIX.1-2024 pax) with constant metadata, so that the same files give the same bytes everywhere.
 *
 * nanotar makes the header block. It cannot make the archive: it needs every file in memory, copies content byte by
 * byte, pads to 10 KiB, cuts names at 100 bytes without an error and cannot write the pax header of a longer name.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { createTar } from "nanotar";
import type { CollectedFile } from "../package-file.ts";

export const BLOCK_BYTES = 512;

/** The largest size that the header can hold; a larger one needs a pax record. */
const maxHeaderBytes = 0o77777777777;

/** Size of the pieces in which large files are read, in bytes. */
const readBytes = 1024 * 1024;

const encoder = new TextEncoder();
const attrs = { uid: 0, gid: 0, mtime: 0 };
const template = createTar([{ name: "", data: new Uint8Array(0), attrs }]).subarray(0, BLOCK_BYTES);

/** Receives the SHA-256 of the content of each file, in lower-case hex. */
export type OnFile = (path: string, digest: string) => void;

/**
 * The bytes of the archive that holds `files` in their order, in pieces of at most 1 MiB.
 *
 * @throws Error when a file cannot be read or has changed its size since it was collected
 */
export function* writeTar(
  files: readonly CollectedFile[],
  onFile: OnFile,
): Generator<Uint8Array, void, void> {
  for (const file of files) {
    const hash = createHash("sha256");
    yield* headersOf(file);
    for (const part of contentOf(file)) {
      hash.update(part);
      yield part;
    }
    onFile(file.path, hash.digest("hex"));
    yield new Uint8Array(padded(file.sizeBytes) - file.sizeBytes);
  }
  yield new Uint8Array(2 * BLOCK_BYTES);
}

/** A size rounded up to whole blocks. */
export function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}

function* headersOf({ path, sizeBytes, executable }: CollectedFile): Generator<Uint8Array, void, void> {
  const records: string[] = [];
  // The name field holds 100 bytes, and only ASCII means the same to every reader.
  if (path.length > 100 || !/^[\x20-\x7e]*$/.test(path)) records.push(paxRecord("path", path));
  if (sizeBytes > maxHeaderBytes) records.push(paxRecord("size", String(sizeBytes)));
  if (records.length > 0) {
    const pax = encoder.encode(records.join(""));
    yield header("./@PaxHeader", "x", pax.length, "0000644");
    yield pax;
    yield new Uint8Array(padded(pax.length) - pax.length);
  }
  yield header(path, "0", Math.min(sizeBytes, maxHeaderBytes), executable ? "0000755" : "0000644");
}

function header(name: string, type: "0" | "x", sizeBytes: number, mode: string): Uint8Array {
  const block = template.slice();
  encoder.encodeInto(name, block.subarray(0, 100));
  encoder.encodeInto(mode, block.subarray(100, 107));
  encoder.encodeInto(sizeBytes.toString(8).padStart(11, "0"), block.subarray(124, 135));
  encoder.encodeInto(type, block.subarray(156, 157));
  encoder.encodeInto(`${checksum(block).toString(8).padStart(6, "0")}\0 `, block.subarray(148, 156));
  return block;
}

/** The sum of all bytes of a header, with the checksum field counted as spaces. */
export function checksum(block: Uint8Array): number {
  let sum = 8 * 32;
  for (const byte of block) sum += byte;
  for (const byte of block.subarray(148, 156)) sum -= byte;
  return sum;
}

/** A pax record: length, space, key, `=`, value, newline. The length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const body = encoder.encode(` ${key}=${value}\n`).length;
  let length = body + 1;
  while (String(length).length + body !== length) length = String(length).length + body;
  return `${length} ${key}=${value}\n`;
}

function* contentOf({
  path,
  absolutePath,
  sizeBytes,
  content,
}: CollectedFile): Generator<Uint8Array, void, void> {
  if (content !== undefined) return yield content;
  const file = openSync(absolutePath, "r");
  try {
    let remaining = sizeBytes;
    for (;;) {
      // One byte more than expected, which shows that the file has grown.
      const part = Buffer.allocUnsafe(Math.min(remaining + 1, readBytes));
      const count = readSync(file, part);
      remaining -= count;
      if (count === 0 || remaining < 0) break;
      yield part.subarray(0, count);
    }
    if (remaining !== 0) throw new Error(`Cannot package ${path}: it changed while it was read.`);
  } finally {
    closeSync(file);
  }
}
