/**
 * The processor time of a function, in milliseconds. Unlike elapsed time it does not grow when other processes use the
 * processors, so that a test can assert the cost of a function.
 */
export function usedMs(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
