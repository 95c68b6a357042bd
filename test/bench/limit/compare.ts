/** Measures two candidates in turn, so that other load on the machine affects both. */

export interface Candidate {
  name: string;
  /** Measures once, for example in requests per second. */
  run(): Promise<number>;
}

export interface Comparison {
  names: [string, string];
  /** The measurements of `a` and `b` by pair. */
  pairs: { a: number; b: number; ratio: number }[];
  /** Medians. */
  a: number;
  b: number;
  /** Median of a / b over the pairs. */
  ratio: number;
  spread: { min: number; max: number };
}

/** @param pairs - measurements of each candidate, at least 1; every other pair starts with `b` */
export async function compare(a: Candidate, b: Candidate, pairs: number): Promise<Comparison> {
  const measured: Comparison["pairs"] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const [first, second] = pair % 2 === 0 ? [a, b] : [b, a];
    const firstResult = await first.run();
    const secondResult = await second.run();
    const values = first === a ? { a: firstResult, b: secondResult } : { a: secondResult, b: firstResult };
    measured.push({ ...values, ratio: values.a / values.b });
  }
  const ratios = measured.map(({ ratio }) => ratio);
  return {
    names: [a.name, b.name],
    pairs: measured,
    a: median(measured.map((pair) => pair.a)),
    b: median(measured.map((pair) => pair.b)),
    ratio: median(ratios),
    spread: { min: Math.min(...ratios), max: Math.max(...ratios) },
  };
}

/** One line of text. */
export function describe({ names, a, b, ratio, spread, pairs }: Comparison): string {
  const range = `${spread.min.toFixed(2)} to ${spread.max.toFixed(2)} over ${pairs.length} pairs`;
  return `${names[0]} ${Math.round(a)}, ${names[1]} ${Math.round(b)}: ratio ${ratio.toFixed(2)} (${range})`;
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
