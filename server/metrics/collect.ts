/** Reads the gauges at a scrape and renders all metrics. Scrapes within a second share what they read from the store. */
import type { Role } from "../config.ts";
import type { Pools } from "../executions/pool/contract.ts";
import { runtimeName } from "../runtime.ts";
import type { Engine } from "../store/engine.ts";
import { readStoreState } from "../store/tables/metrics.ts";
import { observed } from "../telemetry/metrics/definitions.ts";
import { renderMetrics, type Sample } from "../telemetry/metrics/index.ts";
import { processSamples } from "../telemetry/metrics/process.ts";
import { version } from "../version.ts";

/** Of the text that `MetricsCollector.text` returns. */
export const contentType = "text/plain; version=0.0.4; charset=utf-8";

const sharedMs = 1_000;

export interface MetricsSources {
  engine: Engine;
  pools: Pick<Pools, "count">;
  executor: { readonly runningCount: number };
  listener: { readonly connections: number };
  role: Role;
}

export class MetricsCollector {
  readonly #sources: MetricsSources;
  #stored: Promise<Sample[]> | null = null;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(sources: MetricsSources) {
    this.#sources = sources;
  }

  async text(): Promise<string> {
    const { pools, executor, listener, role } = this.#sources;
    const { waitingAttempts, ...runners } = pools.count();
    const samples: Sample[] = [
      { definition: observed.build, labels: [version, runtimeName, role], value: 1 },
      { definition: observed.connections, value: listener.connections },
      { definition: observed.running, value: executor.runningCount },
      ...Object.entries(runners).map(([state, value]) => ({
        definition: observed.runners,
        labels: [state],
        value,
      })),
      { definition: observed.waitingAttempts, value: waitingAttempts },
    ];
    return renderMetrics([...samples, ...(await this.#sharedSamples()), ...(await processSamples())]);
  }

  #sharedSamples(): Promise<Sample[]> {
    const nowMs = performance.now();
    if (this.#stored === null || nowMs - this.#readMs >= sharedMs) {
      this.#readMs = nowMs;
      this.#stored = this.#storeSamples();
    }
    return this.#stored;
  }

  /** A store that does not answer must not hide the other metrics. */
  async #storeSamples(): Promise<Sample[]> {
    try {
      const { queued, oldestDueMs, nextScheduleMs } = await this.#sources.engine.read(readStoreState);
      const age = (dueMs: number | null): number =>
        dueMs === null ? 0 : Math.max(0, (Date.now() - dueMs) / 1000);
      return [
        { definition: observed.storeUp, value: 1 },
        { definition: observed.queued, value: Number(queued) },
        { definition: observed.queueAge, value: age(oldestDueMs) },
        { definition: observed.scheduleOverdue, value: age(nextScheduleMs) },
      ];
    } catch {
      return [{ definition: observed.storeUp, value: 0 }];
    }
  }
}
