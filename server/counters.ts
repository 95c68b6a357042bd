/**
 * Counts requests and executions for the statistics, and adds the counts to the store once a second. A crash loses the
 * counts of the last second, and no execution.
 */
import type { Engine } from "./store/engine.ts";
import {
  addStatistics,
  type CounterName,
  type Counts,
  durationBounds,
  emptyCounts,
  hourMs,
  minuteMs,
  type StatisticsKey,
} from "./store/tables/counters.ts";
import type { Origin } from "./store/tables/executions.ts";
import { log, reasonOf } from "./telemetry/log/index.ts";

const flushMs = 1_000;
/** Organizations and environments whose counts wait; the counts of others are dropped until the next flush. */
const maxWaiting = 10_000;

type Place = { org_id: string; environment: string };

export class Counters {
  readonly #engine: Engine;
  #waiting = new Map<string, StatisticsKey & { counts: Counts }>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Counts a request to a webhook. */
  request(place: Place, outcome: Extract<CounterName, "accepted" | "rejected" | "ignored">): void {
    const counts = this.#at(place);
    if (counts !== null) counts[outcome]++;
  }

  /** Counts an execution that has ended, and its time from acceptance to end. An alert is no work of the project. */
  ended(
    row: Place & { origin: Origin; created_at: number },
    status: Extract<CounterName, "succeeded" | "failed" | "cancelled">,
    nowMs: number,
  ): void {
    if (row.origin === "failure") return;
    const tookMs = nowMs - row.created_at;
    const counts = this.#at(row);
    if (counts === null) return;
    counts[status]++;
    const index = durationBounds.findIndex((bound) => tookMs <= bound);
    const at = index < 0 ? durationBounds.length : index;
    counts.durations[at] = (counts.durations[at] ?? 0) + 1;
  }

  /** Writes what has been counted. */
  async close(): Promise<void> {
    if (this.#timer !== null) this.#flush();
    await this.#writing;
  }

  #at({ org_id, environment }: Place): Counts | null {
    const at = Math.floor(Date.now() / minuteMs) * minuteMs;
    const key = `${org_id}/${environment}/${at}`;
    const known = this.#waiting.get(key);
    if (known !== undefined) return known.counts;
    if (this.#waiting.size >= maxWaiting) return null;
    const counts = emptyCounts();
    this.#waiting.set(key, { org_id, environment, span: minuteMs, at, counts });
    this.#timer ??= setTimeout(() => this.#flush(), flushMs);
    return counts;
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const minutes = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#writing = this.#engine
      .write(() => addStatistics([...minutes, ...hoursOf(minutes)]))
      .catch((error: unknown) => log.warn("Cannot write statistics", { reason: reasonOf(error) }));
  }
}

/** The same counts for the hours. Minutes of one hour are added together, because a statement takes each row once. */
function hoursOf(
  minutes: readonly (StatisticsKey & { counts: Counts })[],
): (StatisticsKey & { counts: Counts })[] {
  const hours = new Map<string, StatisticsKey & { counts: Counts }>();
  for (const { org_id, environment, at, counts } of minutes) {
    const hour = Math.floor(at / hourMs) * hourMs;
    const key = `${org_id}/${environment}/${hour}`;
    const row = hours.get(key) ?? { org_id, environment, span: hourMs, at: hour, counts: emptyCounts() };
    hours.set(key, row);
    for (const name of Object.keys(counts) as (keyof Counts)[]) {
      if (name !== "durations") row.counts[name] += counts[name];
    }
    row.counts.durations = row.counts.durations.map((count, index) => count + (counts.durations[index] ?? 0));
  }
  return [...hours.values()];
}
