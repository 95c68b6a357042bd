/** Measures programs in turn, so that other work of the machine affects all of them. */
import type { Program } from "./case.ts";
import { median, spreadOf } from "./statistics.ts";

/** One measurement: a value, with a latency where it has one. */
export type Sample = number | { value: number; p50Ms: number; p99Ms: number };

export type Candidates = Readonly<Record<string, () => Promise<Sample>>>;

export interface InterleaveOptions {
  rounds: number;
  /** Rounds that are not counted. Default 0, for measurements that warm up themselves. */
  warmUps?: number;
}

/**
 * Measures every candidate once in each round; every other round goes backwards, because the last one may find warmer
 * caches. Ratios are those of one round, so that a slow minute of the machine does not change them.
 */
export async function interleave(candidates: Candidates, options: InterleaveOptions): Promise<Program[]> {
  const { rounds, warmUps = 0 } = options;
  const entries = Object.entries(candidates);
  const samples = new Map(entries.map(([name]) => [name, [] as Sample[]]));
  for (let round = 0; round < rounds + warmUps; round++) {
    for (const [name, measure] of round % 2 === 0 ? entries : entries.toReversed()) {
      const sample = await measure();
      if (round >= warmUps) samples.get(name)?.push(sample);
    }
  }
  return programsOf(samples);
}

/** Programs from samples by name, of which those with the same index belong to one round. */
export function programsOf(samples: ReadonlyMap<string, readonly Sample[]>): Program[] {
  const [first = []] = samples.values();
  return [...samples].map(([name, list], index) => {
    const values = list.map(numberOf);
    const program: Program = { name, ...spreadOf(values), samples: values.length };
    const timed = list.filter((sample) => typeof sample === "object");
    if (timed.length > 0) {
      program.p50Ms = median(timed.map(({ p50Ms }) => p50Ms));
      program.p99Ms = median(timed.map(({ p99Ms }) => p99Ms));
    }
    if (index > 0) {
      const ratio = spreadOf(values.map((value, round) => numberOf(first[round] ?? Number.NaN) / value));
      // Nothing divided by nothing.
      if (Number.isFinite(ratio.median)) program.ratio = ratio;
    }
    return program;
  });
}

function numberOf(sample: Sample): number {
  return typeof sample === "number" ? sample : sample.value;
}
