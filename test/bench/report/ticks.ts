/** Scales of charts. */

export interface Scale {
  /** The position of a value, from 0 to 1. */
  at(value: number): number;
  ticks: number[];
}

/** From 0 to a round number above the largest value. */
export function linear(values: readonly number[]): Scale {
  const most = Math.max(...values, 1e-9);
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [0.2, 0.5, 1, 2].map((factor) => factor * power).find((size) => most / size <= 6) ?? power;
  const end = Math.ceil(most / step) * step;
  const count = Math.round(end / step);
  return {
    at: (value) => value / end,
    ticks: Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6))),
  };
}

/** Logarithmic, with the given ticks or with powers of ten and their halves. */
export function logarithmic(values: readonly number[], given?: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  const candidates = Array.from({ length: 19 }, (_, index) => 10 ** (index - 6)).flatMap((power) => [
    power,
    power * 2,
    power * 5,
  ]);
  const low = given?.[0] ?? candidates.findLast((tick) => tick <= least) ?? least;
  const high = given?.at(-1) ?? candidates.find((tick) => tick >= most) ?? most;
  const span = Math.log(high / low) || 1;
  const all = candidates.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  // Every power of ten when all would be too close.
  const ticks = all.length <= 8 ? all : all.filter((tick) => Number.isInteger(Math.log10(tick)));
  return {
    at: (value) => Math.log(value / low) / span,
    ticks: given === undefined ? ticks.map((tick) => Number(tick.toPrecision(3))) : [...given],
  };
}
