/**
 * Starts what is due. Once a second it asks the store, by index, for schedules whose time has come, and decides each of
 * their ticks in the transaction that queues the execution and sets the next time. A tick is a unique row, so that it runs
 * once, however many schedulers share the store and however often one dies.
 *
 * node-cron gives the beat. It arms its timer by the wall clock, so that a clock set back an hour would stop it for an
 * hour: a watch on the monotonic clock starts it anew then.
 */
import { performance } from "node:perf_hooks";
import { createTask, type ScheduledTask } from "node-cron";
import type { ScheduleDefinition } from "../../project/definition.ts";
import type { Executor } from "../executions/executor.ts";
import { logTopic, type Notifier } from "../executions/notifier.ts";
import type { Engine } from "../store/engine.ts";
import { parseStored } from "../store/json.ts";
import { listRunnableSchedules, setNextDue } from "../store/schedules.ts";
import { batchSize, type Decided, decideDue, startWaiting } from "./decide.ts";
import { nextDue } from "./next-due.ts";

const beatWatchMs = 2_500;
/** A wall clock that is so far behind where it was has been set back. */
const setBackMs = 2_000;

/** The two clocks, so that tests can set one back. */
export interface Clock {
  /** Unix milliseconds. */
  wallMs(): number;
  /** Milliseconds that only ever grow. */
  monotonicMs(): number;
}

export const systemClock: Clock = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

export interface SchedulerParts {
  engine: Engine;
  executor: Pick<Executor, "wake">;
  notifier: Notifier;
  clock: Clock;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  #task: ScheduledTask | null = null;
  #watch: NodeJS.Timeout | null = null;
  #lastPass: { wallMs: number; monotonicMs: number } | null = null;
  #passing: Promise<void> | null = null;
  #closed = false;
  #error: string | null = null;

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#startBeat();
    let beat = performance.now();
    const tick = () => {
      beat = performance.now();
      void this.pass();
    };
    this.#onBeat = tick;
    this.#watch = setInterval(() => {
      if (performance.now() - beat > beatWatchMs) {
        this.#startBeat();
        tick();
      }
    }, beatWatchMs);
  }

  #onBeat: () => void = () => {};

  #startBeat(): void {
    void this.#task?.destroy();
    this.#task = createTask("* * * * * *", () => this.#onBeat(), { logger: silent });
    void this.#task.start();
  }

  /** @throws Error when the last pass failed. */
  check(): void {
    if (this.#error !== null) throw new Error(this.#error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#watch !== null) clearInterval(this.#watch);
    await this.#task?.destroy();
    await this.#passing;
  }

  /** Decides everything that is due now. One pass at a time; a call during a pass waits for that one. */
  pass(): Promise<void> {
    this.#passing ??= this.#pass()
      .then(
        () => {
          this.#error = null;
        },
        (error: unknown) => {
          if (this.#closed) return;
          this.#error = error instanceof Error ? error.message : String(error);
          console.error("The scheduler failed:", this.#error);
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
      const decided = await engine.write(() => decideDue(nowMs, nowMs - awakeMs));
      this.#announce(decided);
      if (decided.schedules < batchSize) break;
    }
    if (this.#closed) return;
    // Only now: while passes fail, what is due waits, and is on time for the pass that succeeds.
    this.#lastPass = { wallMs: nowMs, monotonicMs };
    this.#announce(await engine.write(() => startWaiting(nowMs)));
  }

  /** The clock was set back: what was computed from the later time would come too late. */
  async #recompute(nowMs: number): Promise<void> {
    const { engine } = this.#parts;
    let after = { orgId: "", scheduleId: "" };
    while (!this.#closed) {
      const rows = await engine.write(function* () {
        const page = yield* listRunnableSchedules(after, batchSize);
        for (const row of page) {
          const next = nextDue(parseStored<ScheduleDefinition>(row.definition), nowMs);
          yield* setNextDue(row.org_id, row.schedule_id, next);
        }
        return page;
      });
      const last = rows.at(-1);
      if (last === undefined || rows.length < batchSize) return;
      after = { orgId: last.org_id, scheduleId: last.schedule_id };
    }
  }

  #announce(decided: Decided): void {
    for (const deploymentId of decided.deployments) this.#parts.executor.wake(deploymentId);
    for (const orgId of decided.logged) this.#parts.notifier.notify(logTopic(orgId));
  }
}

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
