/** The peak increase of this thread's memory during an operation, in bytes. */
export async function peakDuring(work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const before = process.memoryUsage();
  const look = (): void => {
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    peak = Math.max(peak, arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed);
  };
  const timer = setInterval(look, 2);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return peak;
}
