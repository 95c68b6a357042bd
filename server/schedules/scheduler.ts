/**
 * Runs schedules. Once a second the scheduler reads the schedules that are due, by index, and processes their ticks. A
 * tick is a unique row, so that it runs once with any number of schedulers on one store, and after any crash.
 *
 * It wakes at each full second of the wall clock, after at most a second on the monotonic clock, so that a change of the
 * wall clock never stops it. Rejected: a task of node-cron, which takes 11 MB of memory for this and needed a watchdog.
 */
import { performance } from "node:perf_hooks";
import type { ScheduleDefinition } from "../../project/definition.ts";
import type { Engine } from "../store/engine.ts";
import { parseStored } from "../store/tables/json.ts";
import { listRunnableSchedules, setNextDue } from "../store/tables/schedules.ts";
import { log } from "../telemetry/log/index.ts";
import { metrics } from "../telemetry/metrics/index.ts";
import { nextDue } from "./next-due.ts";
import { batchSize, processDueTicks, startWaitingTicks } from "./ticks.ts";

/** The wall clock was set back if it lags the monotonic clock by more than this. */
const setBackMs = 2_000;

/** The system's clocks, replaceable in tests. */
export interface Clock {
  /** Unix milliseconds. */
  wallMs(): number;
  /** Milliseconds since any fixed time; never decreases. */
  monotonicMs(): number;
}

export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

export interface SchedulerParts {
  engine: Engine;
  clock: Clock;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  #timer: NodeJS.Timeout | null = null;
  #lastPass: { wallMs: number; monotonicMs: number } | null = null;
  #passing: Promise<void> | null = null;
  #closed = false;
  #error: string | null = null;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer = setTimeout(
      () => {
        this.start();
        void this.pass();
      },
      1000 - (Date.now() % 1000),
    );
  }

  /** @throws Error if the last pass failed */
  check(): void {
    if (this.#error !== null) throw new Error(this.#error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#passing;
  }

  /** Processes everything that is due now. A call during a pass waits for that pass. */
  pass(): Promise<void> {
    this.#passing ??= this.#pass()
      .then(
        () => {
          this.#error = null;
        },
        (error: unknown) => {
          if (this.#closed) return;
          this.#error = error instanceof Error ? error.message : String(error);
          log.error("The scheduler failed", { reason: this.#error });
        },
      )
      .finally(() => {
        this.#passing = null;
      });
    return this.#passing;
  }

  async #pass(): Promise<void> {
    const { engine, clock } = this.#parts;
    const nowMs = clock.wallMs();
    const monotonicMs = clock.monotonicMs();
    const last = this.#lastPass;
    const awakeMs = last === null ? 0 : monotonicMs - last.monotonicMs;
    if (last !== null && nowMs < last.wallMs + awakeMs - setBackMs) await this.#recompute(nowMs);
    while (!this.#closed) {
      const { schedules, ticks } = await engine.write(() => processDueTicks(nowMs, nowMs - awakeMs));
      for (const { outcome, due_at } of ticks) {
        metrics.scheduleRuns.add(outcome);
        if (outcome === "run") metrics.scheduleLateness.observe((clock.wallMs() - due_at) / 1000);
      }
      if (schedules < batchSize) break;
    }
    if (this.#closed) return;
    // Only after success: ticks that became due while passes failed are on time for the pass that succeeds.
    this.#lastPass = { wallMs: nowMs, monotonicMs };
    await engine.write(() => startWaitingTicks(nowMs));
  }

  /** Computes all due times again after the clock was set back: those computed from the later time are too late. */
  async #recompute(nowMs: number): Promise<void> {
    const { engine } = this.#parts;
    let after = { orgId: "", scheduleId: "" };
    while (!this.#closed) {
      const rows = await engine.write(function* () {
        const page = yield* listRunnableSchedules(after, batchSize);
        // Runs that are overdue nevertheless are still due.
        const later = page.filter(({ next_due_at }) => (next_due_at ?? 0) > nowMs);
        yield* setNextDue(
          later.map((row) => ({
            ...row,
            nextMs: nextDue(parseStored<ScheduleDefinition>(row.definition), nowMs),
          })),
        );
        return page;
      });
      const last = rows.at(-1);
      if (last === undefined || rows.length < batchSize) return;
      after = { orgId: last.org_id, scheduleId: last.schedule_id };
    }
  }
}
