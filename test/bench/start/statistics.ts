/** Statistics of measured times. */

export interface Summary {
  median: number;
  p99: number;
  /** The middle half of the values lies between these. */
  spread: [p25: number, p75: number];
}

export function summary(values: readonly number[]): Summary {
  return {
    median: quantile(values, 0.5),
    p99: quantile(values, 0.99),
    spread: [quantile(values, 0.25), quantile(values, 0.75)],
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
