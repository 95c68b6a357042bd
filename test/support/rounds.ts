/** Rounds of a property test: `short` by default, more where `FUZZ_ROUNDS` says so. */
export function rounds(short: number): number {
  const wanted = Number(process.env.FUZZ_ROUNDS);
  return wanted > 0 ? wanted : short;
}
