/** The codes of lengths and distances (RFC 1951, 3.2.5). A code stands for its base and the following 2^extra - 1. */

/** The code of the end of a block; those of lengths come after it. */
export const endOfBlock = 256;
export const lengthCodes = 29;
export const literalCodes: number = endOfBlock + 1 + lengthCodes;
export const distanceCodes = 30;
export const maxLength = 258;
/** How far a match may lie back. */
export const windowBytes: number = 32 * 1024;

export const lengthExtra: Uint8Array = new Uint8Array(lengthCodes);
export const lengthBase: Uint16Array = new Uint16Array(lengthCodes);
/** Code of each length, from 0 for a length of 3. */
export const lengthCode: Uint8Array = new Uint8Array(maxLength + 1);

export const distanceExtra: Uint8Array = new Uint8Array(distanceCodes);
export const distanceBase: Uint16Array = new Uint16Array(distanceCodes);
/** Code of each distance up to 256, less 1; from 256 on of each 128 of the others. */
const distanceCodeTable = new Uint8Array(512);

export function distanceCode(distance: number): number {
  const index = distance <= 256 ? distance - 1 : 256 + ((distance - 1) >> 7);
  return distanceCodeTable[index] as number;
}

for (let code = 0, base = 3; code < lengthCodes; code++) {
  // The last code is for 258 alone, which the one before could have meant.
  const isLast = code === lengthCodes - 1;
  const extra = code < 8 || isLast ? 0 : (code - 4) >> 2;
  lengthExtra[code] = extra;
  lengthBase[code] = isLast ? maxLength : base;
  lengthCode.fill(code, lengthBase[code], Math.min(maxLength + 1, base + 2 ** extra));
  base += 2 ** extra;
}
lengthCode[maxLength] = lengthCodes - 1;

for (let code = 0, base = 1; code < distanceCodes; code++) {
  const extra = code < 4 ? 0 : (code - 2) >> 1;
  distanceExtra[code] = extra;
  distanceBase[code] = base;
  for (let distance = base; distance < base + 2 ** extra; distance++) {
    distanceCodeTable[distance <= 256 ? distance - 1 : 256 + ((distance - 1) >> 7)] = code;
  }
  base += 2 ** extra;
}
