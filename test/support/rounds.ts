/** Rounds of a property test: `short` by default, `FUZZ_ROUNDS` when set. */
export function rounds(short: number): number {
  const wanted = Number(process.env.FUZZ_ROUNDS);
  return wanted > 0 ? wanted : short;
}
