/** Whether `npm run test:fuzz` runs, which takes random values. */
export const isFuzzing: boolean = process.env.FUZZ_ROUNDS !== undefined;

/** Rounds of a property test: `short` by default, `FUZZ_ROUNDS` when it is a number above 0. */
export function rounds(short: number): number {
  const wanted = Number(process.env.FUZZ_ROUNDS);
  return wanted > 0 ? wanted : short;
}
