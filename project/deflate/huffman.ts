/**
 * Sets the length of the code of each symbol, 0 for those that do not occur, such that frequent ones get short codes and
 * none is longer than `maxBits`. Equal frequencies are ordered by symbol: the result depends on nothing else.
 */
export function assignLengths(frequencies: Uint32Array, maxBits: number, lengths: Uint8Array): void {
  lengths.fill(0);
  const symbols: number[] = [];
  for (const [symbol, frequency] of frequencies.entries()) if (frequency > 0) symbols.push(symbol);
  const [only] = symbols;
  if (only === undefined) return;
  if (symbols.length === 1) {
    lengths[only] = 1;
    return;
  }
  const frequencyOf = (symbol: number): number => frequencies[symbol] as number;
  symbols.sort((a, b) => frequencyOf(a) - frequencyOf(b) || a - b);
  const counts = limited(depthCounts(symbols.map(frequencyOf)), maxBits);
  let index = 0;
  for (let bits = maxBits; bits >= 1; bits--) {
    for (let count = counts[bits] as number; count > 0; count--) lengths[symbols[index++] as number] = bits;
  }
}

/**
 * How many leaves of a Huffman tree lie at each depth. Both the leaves, in rising order of weight, and the inner nodes,
 * which come into being in that order, are queues; the two lightest are at their heads.
 */
function depthCounts(weights: readonly number[]): Uint32Array {
  const leaves = weights.length;
  const nodes = 2 * leaves - 1;
  const weight = new Float64Array(nodes);
  weight.set(weights);
  const parent = new Uint32Array(nodes);
  let leaf = 0;
  let inner = leaves;
  for (let next = leaves; next < nodes; next++) {
    for (let child = 0; child < 2; child++) {
      const takeLeaf =
        leaf < leaves && (inner >= next || (weight[leaf] as number) <= (weight[inner] as number));
      const taken = takeLeaf ? leaf++ : inner++;
      weight[next] = (weight[next] as number) + (weight[taken] as number);
      parent[taken] = next;
    }
  }
  const depth = new Uint32Array(nodes);
  const counts = new Uint32Array(leaves + 1);
  for (let node = nodes - 2; node >= 0; node--) {
    const own = (depth[parent[node] as number] as number) + 1;
    depth[node] = own;
    if (node < leaves) counts[own] = (counts[own] as number) + 1;
  }
  return counts;
}

/**
 * Shortens codes over `maxBits` to it, and lengthens others until all fit: the sum of 2^-length of a complete code is 1
 * (Kraft). Moving one leaf of the lowest level above up by splitting the next makes the sum smaller by 2^-maxBits.
 */
function limited(depths: Uint32Array, maxBits: number): Uint32Array {
  const counts = new Uint32Array(maxBits + 1);
  let sum = 0;
  for (const [depth, count] of depths.entries()) {
    if (count === 0) continue;
    const bits = Math.min(depth, maxBits);
    counts[bits] = (counts[bits] as number) + count;
    sum += count * 2 ** (maxBits - bits);
  }
  for (; sum > 2 ** maxBits; sum--) {
    let bits = maxBits - 1;
    while (counts[bits] === 0) bits--;
    counts[bits] = (counts[bits] as number) - 1;
    counts[bits + 1] = (counts[bits + 1] as number) + 2;
    counts[maxBits] = (counts[maxBits] as number) - 1;
  }
  return counts;
}

/** Sets the codes that belong to lengths (RFC 1951, 3.2.2), each with its bits in the order in which they are written. */
export function assignCodes(lengths: Uint8Array, codes: Uint16Array): void {
  const next = new Uint16Array(17);
  for (const length of lengths) if (length > 0) next[length + 1] = (next[length + 1] as number) + 1;
  for (let length = 1; length < 17; length++) {
    next[length] = ((next[length - 1] as number) + (next[length] as number)) << 1;
  }
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue;
    const code = next[length] as number;
    next[length] = code + 1;
    codes[symbol] = reversed(code, length);
  }
}

function reversed(code: number, length: number): number {
  let result = 0;
  for (let bit = 0; bit < length; bit++) result |= ((code >> bit) & 1) << (length - 1 - bit);
  return result;
}
