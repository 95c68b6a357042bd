/** The polynomial of gzip's CRC-32 (RFC 1952, 8), reflected. */
const polynomial = 0xedb88320;

/**
 * The CRC-32 of two pieces in a row from those of each. A CRC is the remainder of its bytes as a polynomial over GF(2):
 * the first remainder is multiplied by x^(8 * secondLength), the power found by squaring, and added to the second.
 */
export function combineCrc(first: number, second: number, secondLength: number): number {
  let power = 0x80000000;
  let square = 0x00800000;
  for (let left = secondLength; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = multiply(power, square);
    square = multiply(square, square);
  }
  return (multiply(first, power) ^ second) >>> 0;
}

/** Product modulo the polynomial. The highest bit stands for x^0, as in every reflected CRC. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return product >>> 0;
}
