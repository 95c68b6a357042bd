/** What is compressed here must be read by zlib, whatever it is and however it is cut. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deflatePart, windowBytes } from "../../project/deflate/deflate.ts";
import { assignCodes, assignLengths } from "../../project/deflate/huffman.ts";
import { rounds } from "../support/rounds.ts";
import { sample } from "./sample.ts";

/** Compresses content cut at some places, each part with what of the one before it may look back on. */
function compressed(whole: Buffer, cuts: readonly number[] = []): Buffer {
  const places = [
    0,
    ...cuts.filter((cut) => cut > 0 && cut < whole.length).toSorted((a, b) => a - b),
    whole.length,
  ];
  const parts = places.slice(1).map((end, index) => {
    const start = places[index] ?? 0;
    const before = Math.min(start, windowBytes);
    return deflatePart(whole.subarray(start - before, end), before, index === places.length - 2);
  });
  return Buffer.concat(parts);
}

function survives(whole: Buffer, cuts?: readonly number[]): boolean {
  return inflateRawSync(compressed(whole, cuts)).equals(whole);
}

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

describe("comes back", () => {
  const far = sample(windowBytes - 100, 1);
  const cases: [string, Buffer][] = [
    ["nothing", Buffer.alloc(0)],
    ["one byte", Buffer.from("a")],
    ["three bytes", Buffer.from("abc")],
    ["four bytes", Buffer.from("abcd")],
    ["one byte, often", Buffer.alloc(1_000_000, 7)],
    ["zeros", Buffer.alloc(70_000)],
    ["every byte", allBytes],
    ["every byte, often", Buffer.concat(Array<Buffer>(500).fill(allBytes))],
    [
      "matches of every length",
      Buffer.concat(
        Array.from({ length: 300 }, (_, length) =>
          Buffer.concat([far.subarray(0, length), Buffer.from([length & 255, 255 - (length & 255)])]),
        ),
      ),
    ],
    [
      "a match as far back as can be",
      Buffer.concat([
        Buffer.from("0123456789abcdef"),
        Buffer.alloc(windowBytes - 17, "x"),
        Buffer.from("0123456789abcdef"),
      ]),
    ],
    [
      "a match just too far back",
      Buffer.concat([
        Buffer.from("0123456789abcdef"),
        sample(windowBytes - 16, 2),
        Buffer.from("0123456789abcdef"),
      ]),
    ],
    ["overlapping matches", Buffer.from("ab".repeat(400) + "abc".repeat(300) + "a".repeat(259))],
    ["text and noise over many blocks", sample(2_500_000, 3)],
    [
      "noise over more than one stored block",
      Buffer.from(Array.from({ length: 200_000 }, (_, index) => Math.imul(index, 0x9e3779b1) >>> 23)),
    ],
    ["symbols as skewed as Fibonacci's numbers", fibonacci()],
  ];
  test.each(cases)("%s", (_, whole) => {
    expect(survives(whole)).toBe(true);
    const middle = Math.floor(whole.length / 2);
    expect(survives(whole, [middle])).toBe(true);
    expect(survives(whole, [1, 2, 3, middle, middle + 1, whole.length - 1])).toBe(true);
  });

  test("whatever it is and however it is cut", () => {
    const run = fc.oneof(
      fc
        .tuple(fc.nat(255), fc.integer({ min: 1, max: 40_000 }))
        .map(([byte, length]) => Buffer.alloc(length, byte)),
      fc.uint8Array({ minLength: 1, maxLength: 500 }).map((bytes): Buffer => Buffer.from(bytes)),
      fc
        .tuple(fc.integer({ min: 1, max: 30_000 }), fc.nat(1000))
        .map(([length, seed]) => sample(length, seed)),
      fc
        .tuple(fc.string({ minLength: 1, maxLength: 50 }), fc.integer({ min: 1, max: 500 }))
        .map(([text, times]) => Buffer.from(text.repeat(times))),
      fc.constant(allBytes),
    );
    const wholes = fc.array(run, { maxLength: 25 }).map((runs) => Buffer.concat(runs));
    fc.assert(
      fc.property(wholes, fc.array(fc.nat(300_000), { maxLength: 4 }), (whole, cuts) =>
        survives(whole, cuts),
      ),
      { numRuns: rounds(300), endOnFailure: true },
    );
  });
});

/** Words whose frequencies need codes of more than 15 bits, were they not limited. */
function fibonacci(): Buffer {
  const parts: Buffer[] = [];
  for (let byte = 0, a = 1, b = 1; byte < 24; byte++, [a, b] = [b, a + b]) parts.push(Buffer.alloc(a, byte));
  // Shuffled, so that no matches are found.
  const bytes = Buffer.concat(parts);
  for (let index = bytes.length - 1, state = 1; index > 0; index--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (index + 1);
    const kept = bytes[index] ?? 0;
    bytes[index] = bytes[other] ?? 0;
    bytes[other] = kept;
  }
  return bytes;
}

describe("codes", () => {
  test("are complete, limited, and the best that the limit allows where it does not bind", () => {
    const frequencies = fc.array(fc.oneof(fc.constant(0), fc.nat(20), fc.nat(1_000_000)), {
      minLength: 2,
      maxLength: 286,
    });
    fc.assert(
      fc.property(frequencies, fc.constantFrom(7, 15), (wanted, maxBits) => {
        const counts = Uint32Array.from(wanted.slice(0, maxBits === 7 ? 19 : 286));
        const lengths = new Uint8Array(counts.length);
        assignLengths(counts, maxBits, lengths);
        const used = [...counts].filter((count) => count > 0).length;
        expect([...lengths].filter((length) => length > 0)).toHaveLength(used);
        expect(Math.max(...lengths)).toBeLessThanOrEqual(maxBits);
        const sum = [...lengths].reduce((total, length) => total + (length > 0 ? 2 ** -length : 0), 0);
        if (used >= 2) expect(sum).toBe(1);
        for (const [a, length] of lengths.entries()) {
          for (const [b, other] of lengths.entries()) {
            if ((counts[a] ?? 0) > (counts[b] ?? 0) && other > 0) expect(length).toBeLessThanOrEqual(other);
          }
        }
        const bits = [...counts].reduce((total, count, symbol) => total + count * (lengths[symbol] ?? 0), 0);
        if (used >= 2 && Math.max(...lengths) < maxBits) expect(bits).toBe(huffmanBits(counts));
      }),
      { numRuns: rounds(200) },
    );
  });

  test("are those of the example in RFC 1951, 3.2.2", () => {
    const codes = new Uint16Array(8);
    assignCodes(Uint8Array.of(3, 3, 3, 3, 3, 2, 4, 4), codes);
    const written = [..."010 011 100 101 110 00 1110 1111".split(" ")].map((bits) =>
      Number.parseInt([...bits].reverse().join(""), 2),
    );
    expect([...codes]).toEqual(written);
  });
});

/** The length of the best code, by its definition: the sum of the weights of all inner nodes. */
function huffmanBits(frequencies: Uint32Array): number {
  const weights = [...frequencies].filter((count) => count > 0);
  let bits = 0;
  while (weights.length > 1) {
    weights.sort((a, b) => b - a);
    const node = (weights.pop() ?? 0) + (weights.pop() ?? 0);
    weights.push(node);
    bits += node;
  }
  return bits;
}

test("is about as small as zlib makes it, and never much larger than it was", () => {
  const text = Buffer.from(
    Array.from(
      { length: 20_000 },
      (_, index) => `  const value${index % 97} = await load("${(index * 31) % 1009}");\n`,
    ).join(""),
  );
  expect(compressed(text).length).toBeLessThan(deflateRawSync(text, { level: 6 }).length * 1.25);
  for (const length of [0, 1, 100, 65_535, 65_536, 1_000_000]) {
    const noise = Buffer.from(
      Array.from({ length }, (_, index) => (Math.imul(index + 1, 0x9e3779b1) ^ (index * 7919)) >>> 11),
    );
    expect(compressed(noise).length).toBeLessThanOrEqual(length + 10 + Math.ceil(length / 10_000) * 5);
  }
});
