/** Metrics of the process: memory, processor time, descriptors and the delay of the event loop. */
import { readdir } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { observed } from "./definitions.ts";
import { metrics, type Sample } from "./index.ts";

const intervalMs = 100;
const startedSeconds = performance.timeOrigin / 1000;

export async function processSamples(): Promise<Sample[]> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const descriptors = await countDescriptors();
  return [
    { definition: observed.cpu, value: (user + system) / 1e6 },
    { definition: observed.memory, value: rss },
    { definition: observed.heap, value: heapUsed },
    { definition: observed.started, value: startedSeconds },
    ...(descriptors === null ? [] : [{ definition: observed.descriptors, value: descriptors }]),
  ];
}

/**
 * Measures how late a timer fires, which is the same on all runtimes; Node's histogram of the event loop is not.
 * @returns a function that stops the measurement
 */
export function measureLoopDelay(): () => void {
  let dueMs = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    metrics.loopDelay.observe((nowMs - dueMs) / 1000);
    dueMs = nowMs + intervalMs;
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function countDescriptors(): Promise<number | null> {
  try {
    return (await readdir("/proc/self/fd")).length;
  } catch {
    return null;
  }
}
