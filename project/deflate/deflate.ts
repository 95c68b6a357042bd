/**
 * Compresses the parts of one deflate stream (RFC 1951) apart from each other, so that cores can share the work and
 * the result does not depend on how many there are.
 *
 * Why not a library: the compressors built into the runtimes each give other bytes, and the digest of a package would
 * depend on who pushes. Of those in JavaScript, pako takes four times as long as this for the same size; fflate takes
 * twice as long and gives 2 % more, and of a stream in parts it makes data that cannot be read (0.8.3: it may refer to
 * zeros before the beginning, and its synchronizing flush is a bit short for some positions).
 */
import { BitWriter } from "./bits.ts";
import { Block, blockSymbols, matchFlag } from "./block.ts";
import { distanceCode, endOfBlock, lengthCode, maxLength, windowBytes } from "./tables.ts";

export { windowBytes } from "./tables.ts";

/**
 * How many earlier places with the same four bytes are looked at. With 8, gzip's own default gives 3 % less and takes
 * four times as long; 4 takes a tenth less time and gives 1 % more.
 */
const maxPlaces = 8;

/** A match of this length is good enough to look no further. */
const goodLength = 64;

/** The shortest match: shorter ones cost about as much as the bytes themselves. */
const minLength = 4;

/** Spreads four bytes over the higher bits: 2^32 divided by the golden ratio (Knuth, 6.4). */
const hashFactor = 0x9e3779b1;
const hashBits = 15;

/**
 * The compressed form of `bytes` from `before` on, ending at a byte. What comes before may be referred to: it must be
 * the end of the part before, or nothing. Those of all parts in a row are one stream; `last` ends it.
 */
export function deflatePart(bytes: Uint8Array, before: number, last: boolean): Uint8Array<ArrayBuffer> {
  const length = bytes.length - before;
  // Content that does not shrink is stored, with a few bytes for each block.
  const writer = new BitWriter(length + (length >> 10) + 1024);
  const block = new Block();
  const start = findMatches(bytes, before, block, writer);
  if (block.count > 0 || last) block.write(writer, bytes.subarray(start), last);
  // A stored block without content ends at a byte: what zlib calls a synchronizing flush.
  if (last) writer.align();
  else writer.writeStored(new Uint8Array(0), false);
  return writer.result();
}

/**
 * Fills a block with literals and matches, and writes it whenever it is full; returns where the one begins that is left.
 *
 * `latest` has the last place at which four bytes with a hash began, and `earlier`, for each place of the window, the
 * one before it with the same hash. One function, with everything in variables: in parts it takes half as long again.
 */
function findMatches(bytes: Uint8Array, before: number, block: Block, writer: BitWriter): number {
  const { symbols, literals, distances } = block;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const latest = new Int32Array(1 << hashBits).fill(-1);
  const earlier = new Int32Array(windowBytes);
  const mask = windowBytes - 1;
  // The first place at which no four bytes begin.
  const hashEnd = Math.max(0, bytes.length - minLength + 1);
  for (let place = 0; place < Math.min(before, hashEnd); place++) {
    const hash = Math.imul(view.getInt32(place, true), hashFactor) >>> (32 - hashBits);
    earlier[place & mask] = latest[hash] as number;
    latest[hash] = place;
  }
  let start = before;
  let count = 0;
  for (let index = before; index < bytes.length; ) {
    if (count === blockSymbols) {
      block.count = count;
      block.write(writer, bytes.subarray(start, index), false);
      start = index;
      count = 0;
    }
    let bestLength = minLength - 1;
    let bestDistance = 0;
    if (index < hashEnd) {
      const four = view.getInt32(index, true);
      const hash = Math.imul(four, hashFactor) >>> (32 - hashBits);
      let place = latest[hash] as number;
      earlier[index & mask] = place;
      latest[hash] = index;
      const mostLength = Math.min(maxLength, bytes.length - index);
      const oldest = Math.max(0, index - windowBytes + 1);
      for (let looked = 0; looked < maxPlaces && place >= oldest; looked++) {
        if (bytes[place + bestLength] === bytes[index + bestLength] && view.getInt32(place, true) === four) {
          let length = minLength;
          while (length < mostLength && bytes[place + length] === bytes[index + length]) length++;
          if (length > bestLength) {
            bestLength = length;
            bestDistance = index - place;
            if (length >= goodLength || length === mostLength) break;
          }
        }
        place = earlier[place & mask] as number;
      }
    }
    if (bestDistance === 0) {
      const byte = bytes[index++] as number;
      symbols[count++] = byte;
      literals[byte] = (literals[byte] as number) + 1;
      continue;
    }
    symbols[count++] = matchFlag | (bestLength << 15) | (bestDistance - 1);
    const lengthSymbol = endOfBlock + 1 + (lengthCode[bestLength] as number);
    literals[lengthSymbol] = (literals[lengthSymbol] as number) + 1;
    const distanceSymbol = distanceCode(bestDistance);
    distances[distanceSymbol] = (distances[distanceSymbol] as number) + 1;
    const end = index + bestLength;
    for (let place = index + 1; place < Math.min(end, hashEnd); place++) {
      const hash = Math.imul(view.getInt32(place, true), hashFactor) >>> (32 - hashBits);
      earlier[place & mask] = latest[hash] as number;
      latest[hash] = place;
    }
    index = end;
  }
  block.count = count;
  return start;
}
