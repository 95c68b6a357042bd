/**
 * Compresses the parts of one deflate stream (RFC 1951) apart from each other, so that cores can share the work and
 * the result does not depend on how many there are.
 *
 * The compressors built into the runtimes are twice as fast, but each gives other bytes, and the digest of a package
 * would depend on who pushes. fflate is JavaScript and gives the same bytes everywhere. Two of its mistakes are avoided
 * here (0.8.3): a stream without a dictionary may refer to zeros before its beginning, and a synchronizing flush is a
 * bit short for some positions.
 */
import { Deflate, deflateSync } from "fflate";

/** How far deflate looks back. */
export const windowBytes: number = 32 * 1024;

/**
 * How hard to compress: 3 takes 0.6 of the time of 6 and gives 2 % more. The hash table of 2^18 entries does as well as
 * fflate's own choice of 2^20.
 */
const options = { level: 3, mem: 6 } as const;

/** What fflate takes at a time without growing its buffer. */
const pieceBytes = 64 * 1024;

/**
 * The compressed form of `bytes` from `before` on. Either `before` is 0 and this is the first part, or it is
 * {@link windowBytes}, and `bytes` begins with the end of the part before. Those of all parts in a row are one stream.
 */
export function deflatePart(bytes: Uint8Array, before: number, last: boolean): Uint8Array<ArrayBuffer> {
  if (before === 0 && last) return deflateSync(bytes, options) as Uint8Array<ArrayBuffer>;
  // What comes first of several parts has nothing to refer to. It is stored, and the rest can refer to it.
  if (before === 0) return concat([storedBlock(bytes.subarray(0, windowBytes)), continued(bytes, last)]);
  return continued(bytes, last);
}

/** Compresses what comes after the first {@link windowBytes}, with these as the dictionary. */
function continued(bytes: Uint8Array, last: boolean): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const dictionary = bytes.subarray(0, windowBytes);
  const deflate = new Deflate({ ...options, dictionary }, (part) => parts.push(part));
  for (let offset = windowBytes; offset < bytes.length; offset += pieceBytes) {
    deflate.push(bytes.subarray(offset, offset + pieceBytes));
  }
  // After the flush, the end is a block without content.
  deflate.flush();
  deflate.push(new Uint8Array(0), true);
  return last ? concat(parts) : openEnd(concat(parts));
}

/**
 * Ends a stream in such a way that another can follow.
 *
 * Its last block is empty: the bits 1 (final), 1 and 0 (fixed codes), seven zeros (end of block), then zeros up to a
 * byte (RFC 1951, 3.2.3 and 3.2.6). So its beginning can be found from the end. It becomes a stored block without
 * content, which ends at a byte: what a synchronizing flush writes.
 */
function openEnd(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let index = bytes.length - 1;
  while (bytes[index] === 0) index--;
  const typeBit = 8 * index + 31 - Math.clz32(bytes[index] ?? 0);
  const finalBit = typeBit - 1;
  if (Math.ceil((finalBit + 10) / 8) !== bytes.length || !hasBit(bytes, finalBit)) {
    throw new Error("Cannot compress the package: fflate has ended its stream in an unknown way.");
  }
  clearBit(bytes, finalBit);
  clearBit(bytes, typeBit);
  const headerEnd = Math.ceil((finalBit + 3) / 8);
  return concat([bytes.subarray(0, headerEnd), new Uint8Array([0, 0, 0xff, 0xff])]);
}

/** A block that is not the last: length, its complement, and up to 65,535 bytes as they are. */
function storedBlock(bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(5 + bytes.length);
  const view = new DataView(block.buffer);
  view.setUint16(1, bytes.length, true);
  view.setUint16(3, 0xffff - bytes.length, true);
  block.set(bytes, 5);
  return block;
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let filled = 0;
  for (const part of parts) {
    bytes.set(part, filled);
    filled += part.length;
  }
  return bytes;
}

function hasBit(bytes: Uint8Array, bit: number): boolean {
  return (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
}

function clearBit(bytes: Uint8Array, bit: number): void {
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) & ~(1 << (bit & 7));
}
