import type { BitWriter } from "./bits.ts";
import { assignCodes, assignLengths } from "./huffman.ts";
import {
  distanceBase,
  distanceCode,
  distanceCodes,
  distanceExtra,
  endOfBlock,
  lengthBase,
  lengthCode,
  lengthExtra,
  literalCodes,
} from "./tables.ts";

/** How many symbols a block holds at the most; shorter blocks follow the content better and cost more headers. */
export const blockSymbols: number = 16 * 1024;

/** Set in a symbol that is a match. */
export const matchFlag = 0x1000000;

/**
 * The symbols of one block, not yet written. A literal is its byte; a match is {@link matchFlag} with its length in the
 * bits from 15 on and its distance, less 1, in those below.
 */
export class Block {
  readonly symbols: Uint32Array = new Uint32Array(blockSymbols);
  count = 0;
  readonly literals: Uint32Array = new Uint32Array(literalCodes);
  readonly distances: Uint32Array = new Uint32Array(distanceCodes);
  readonly #literalLengths = new Uint8Array(literalCodes);
  readonly #literalBits = new Uint16Array(literalCodes);
  readonly #distanceLengths = new Uint8Array(distanceCodes);
  readonly #distanceBits = new Uint16Array(distanceCodes);

  /** Writes the block in the shorter of two forms, and empties it. `content` is what the symbols stand for. */
  write(writer: BitWriter, content: Uint8Array, final: boolean): void {
    this.literals[endOfBlock] = 1;
    assignLengths(this.literals, 15, this.#literalLengths);
    assignLengths(this.distances, 15, this.#distanceLengths);
    const header = new Header(this.#literalLengths, this.#distanceLengths);
    const bits = header.bits + this.#bodyBits();
    const stored = 8 * (content.length + 5 * Math.max(1, Math.ceil(content.length / maxStored)));
    if (stored < bits) {
      for (let start = 0; start === 0 || start < content.length; start += maxStored) {
        const piece = content.subarray(start, start + maxStored);
        writer.writeStored(piece, final && start + maxStored >= content.length);
      }
    } else {
      writer.write(final ? 1 : 0, 1);
      writer.write(2, 2);
      header.write(writer);
      assignCodes(this.#literalLengths, this.#literalBits);
      assignCodes(this.#distanceLengths, this.#distanceBits);
      this.#writeSymbols(writer);
      writer.write(this.#literalBits[endOfBlock] as number, this.#literalLengths[endOfBlock] as number);
    }
    this.count = 0;
    this.literals.fill(0);
    this.distances.fill(0);
  }

  #bodyBits(): number {
    let bits = 3;
    for (const [code, frequency] of this.literals.entries()) {
      const extra = code > endOfBlock ? (lengthExtra[code - endOfBlock - 1] as number) : 0;
      bits += frequency * ((this.#literalLengths[code] as number) + extra);
    }
    for (const [code, frequency] of this.distances.entries()) {
      bits += frequency * ((this.#distanceLengths[code] as number) + (distanceExtra[code] as number));
    }
    return bits;
  }

  /** The writer's state is held in variables here: this loop is a third of the time that compressing takes. */
  #writeSymbols(writer: BitWriter): void {
    const { bytes } = writer;
    const { symbols, count } = this;
    const literalBits = this.#literalBits;
    const literalLengths = this.#literalLengths;
    let { length, pending, pendingBits } = writer;
    for (let index = 0; index < count; index++) {
      const symbol = symbols[index] as number;
      const isMatch = symbol >= matchFlag;
      const matchLength = (symbol >>> 15) & 0x1ff;
      const lengthIndex = isMatch ? (lengthCode[matchLength] as number) : 0;
      const code = isMatch ? endOfBlock + 1 + lengthIndex : symbol;
      pending |= (literalBits[code] as number) << pendingBits;
      pendingBits += literalLengths[code] as number;
      if (pendingBits >= 16) {
        bytes[length++] = pending;
        bytes[length++] = pending >>> 8;
        pending >>>= 16;
        pendingBits -= 16;
      }
      if (!isMatch) continue;
      // At most 15 pending, 5 of the length, then at most 15 and 13 of the distance: never 32 at once.
      pending |= (matchLength - (lengthBase[lengthIndex] as number)) << pendingBits;
      pendingBits += lengthExtra[lengthIndex] as number;
      if (pendingBits >= 16) {
        bytes[length++] = pending;
        bytes[length++] = pending >>> 8;
        pending >>>= 16;
        pendingBits -= 16;
      }
      const distance = (symbol & 0x7fff) + 1;
      const distanceIndex = distanceCode(distance);
      pending |= (this.#distanceBits[distanceIndex] as number) << pendingBits;
      pendingBits += this.#distanceLengths[distanceIndex] as number;
      if (pendingBits >= 16) {
        bytes[length++] = pending;
        bytes[length++] = pending >>> 8;
        pending >>>= 16;
        pendingBits -= 16;
      }
      pending |= (distance - (distanceBase[distanceIndex] as number)) << pendingBits;
      pendingBits += distanceExtra[distanceIndex] as number;
      if (pendingBits >= 16) {
        bytes[length++] = pending;
        bytes[length++] = pending >>> 8;
        pending >>>= 16;
        pendingBits -= 16;
      }
    }
    writer.length = length;
    writer.pending = pending;
    writer.pendingBits = pendingBits;
  }
}

/** The most that a stored block can hold. */
const maxStored = 65_535;

/** The order in which the lengths of the codes of code lengths are written (RFC 1951, 3.2.7). */
const headerOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Bits that tell how often 16, 17 and 18 repeat, and what the least is. */
const repeats: Record<number, { extra: number; least: number }> = {
  16: { extra: 2, least: 3 },
  17: { extra: 3, least: 3 },
  18: { extra: 7, least: 11 },
};

/** The lengths of both sets of codes, as they stand at the beginning of a block, themselves coded. */
class Header {
  readonly bits: number;
  readonly #literalCount: number;
  readonly #distanceCount: number;
  readonly #runs: { code: number; times: number }[];
  readonly #lengths = new Uint8Array(19);
  readonly #orderCount: number;

  constructor(literalLengths: Uint8Array, distanceLengths: Uint8Array) {
    this.#literalCount = Math.max(endOfBlock + 1, used(literalLengths));
    this.#distanceCount = Math.max(1, used(distanceLengths));
    this.#runs = [
      ...runsOf([
        ...literalLengths.subarray(0, this.#literalCount),
        ...distanceLengths.subarray(0, this.#distanceCount),
      ]),
    ];
    const frequencies = new Uint32Array(19);
    for (const { code } of this.#runs) frequencies[code] = (frequencies[code] as number) + 1;
    assignLengths(frequencies, 7, this.#lengths);
    let orderCount = headerOrder.length;
    while (orderCount > 4 && this.#lengths[headerOrder[orderCount - 1] as number] === 0) orderCount--;
    this.#orderCount = orderCount;
    this.bits = this.#runs.reduce(
      (sum, { code }) => sum + (this.#lengths[code] as number) + (repeats[code]?.extra ?? 0),
      5 + 5 + 4 + 3 * orderCount,
    );
  }

  write(writer: BitWriter): void {
    writer.write(this.#literalCount - 257, 5);
    writer.write(this.#distanceCount - 1, 5);
    writer.write(this.#orderCount - 4, 4);
    for (const code of headerOrder.slice(0, this.#orderCount)) writer.write(this.#lengths[code] as number, 3);
    const codes = new Uint16Array(19);
    assignCodes(this.#lengths, codes);
    for (const { code, times } of this.#runs) {
      writer.write(codes[code] as number, this.#lengths[code] as number);
      const repeat = repeats[code];
      if (repeat !== undefined) writer.write(times - repeat.least, repeat.extra);
    }
  }
}

/** How many lengths there are up to the last that is not 0. */
function used(lengths: Uint8Array): number {
  return lengths.findLastIndex((length) => length > 0) + 1;
}

/** Lengths in a row as codes: themselves, 16 for a repetition of the one before, 17 and 18 for zeros. */
function* runsOf(lengths: readonly number[]): Generator<{ code: number; times: number }> {
  for (let start = 0; start < lengths.length; ) {
    const length = lengths[start] as number;
    let end = start + 1;
    while (lengths[end] === length) end++;
    let left = end - start;
    if (length > 0) {
      yield { code: length, times: 1 };
      left--;
    }
    while (left >= 3) {
      const longZeros = length === 0 && left >= 11;
      const code = length > 0 ? 16 : longZeros ? 18 : 17;
      const times = Math.min(left, code === 16 ? 6 : code === 17 ? 10 : 138);
      yield { code, times };
      left -= times;
    }
    for (; left > 0; left--) yield { code: length, times: 1 };
    start = end;
  }
}
