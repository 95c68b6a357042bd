/**
 * The metrics that the parts of the server update. They count from the start of the process, whichever of its servers they
 * come from: a process has one, except in tests.
 */
import { recorded } from "./definitions.ts";
import { Counter, Histogram, render, type Sample } from "./registry.ts";

export type { Sample } from "./registry.ts";

interface Metrics {
  requests: Counter;
  requestDuration: Histogram;
  refusedConnections: Counter;
  webhooks: Counter;
  finished: Counter;
  executionDuration: Histogram;
  attempts: Counter;
  attemptDuration: Histogram;
  queueWait: Histogram;
  scheduleRuns: Counter;
  scheduleLateness: Histogram;
  runnerStarts: Counter;
  runnerFailures: Counter;
  commitDuration: Histogram;
  commitFailures: Counter;
  storageDuration: Histogram;
  storageFailures: Counter;
  loopDelay: Histogram;
  spans: Counter;
  logEntries: Counter;
}

export const metrics: Metrics = {
  requests: new Counter(recorded.requests),
  requestDuration: new Histogram(recorded.requestDuration),
  refusedConnections: new Counter(recorded.refusedConnections),
  webhooks: new Counter(recorded.webhooks),
  finished: new Counter(recorded.finished),
  executionDuration: new Histogram(recorded.executionDuration),
  attempts: new Counter(recorded.attempts),
  attemptDuration: new Histogram(recorded.attemptDuration),
  queueWait: new Histogram(recorded.queueWait),
  scheduleRuns: new Counter(recorded.scheduleRuns),
  scheduleLateness: new Histogram(recorded.scheduleLateness),
  runnerStarts: new Counter(recorded.runnerStarts),
  runnerFailures: new Counter(recorded.runnerFailures),
  commitDuration: new Histogram(recorded.commitDuration),
  commitFailures: new Counter(recorded.commitFailures),
  storageDuration: new Histogram(recorded.storageDuration),
  storageFailures: new Counter(recorded.storageFailures),
  loopDelay: new Histogram(recorded.loopDelay),
  spans: new Counter(recorded.spans),
  logEntries: new Counter(recorded.logEntries),
};

/** The metrics with the samples of the gauges in the text format of Prometheus. */
export function renderMetrics(samples: readonly Sample[]): string {
  return render(Object.values(metrics), samples);
}

/** Seconds since a time of `performance.now()`. */
export function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1000;
}
