/** A simulated clock, and schedulers that live and die by it. */

import { Notifier } from "../../server/executions/notifier.ts";
import type { Clock } from "../../server/schedules/scheduler.ts";
import { Scheduler } from "../../server/schedules/scheduler.ts";
import type { Engine, Program } from "../../server/store/engine.ts";
import { rows } from "../support/store.ts";

export class SimulatedClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;

  constructor(startMs: number) {
    this.#wallMs = startMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Time passes. */
  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  /** Somebody sets the clock; no time passes. */
  set(wallMs: number): void {
    this.#wallMs = wallMs;
  }
}

export interface SimulatedScheduler {
  scheduler: Scheduler;
  /** Deployments that it has woken, each time. */
  woken: string[];
}

/** A scheduler that passes when it is told to. */
export function newScheduler(
  engine: Engine,
  clock: Clock,
  onWake: (deploymentId: string) => void = () => {},
): SimulatedScheduler {
  const woken: string[] = [];
  const executor = {
    wake(deploymentId: string) {
      woken.push(deploymentId);
      onWake(deploymentId);
    },
  };
  return { scheduler: new Scheduler({ engine, executor, notifier: new Notifier(), clock }), woken };
}

/** What the death of a process looks like to its store: a write is whole or not there, and its caller never hears. */
export class MortalEngine implements Engine {
  readonly #engine: Engine;
  /** Called before each write: what happens to it. */
  readonly #fate: () => "live" | "die before" | "die after";
  /** Called after each write that was committed. */
  readonly #committed: () => void;
  dead = false;

  constructor(
    engine: Engine,
    fate: () => "live" | "die before" | "die after",
    committed: () => void = () => {},
  ) {
    this.#engine = engine;
    this.#fate = fate;
    this.#committed = committed;
  }

  async write<Result>(program: () => Program<Result>): Promise<Result> {
    const fate = this.dead ? "die before" : this.#fate();
    if (fate !== "live") this.dead = true;
    if (fate === "die before") throw new Error("killed");
    const result = await this.#engine.write(program);
    this.#committed();
    if (fate === "die after") throw new Error("killed");
    return result;
  }

  read<Result>(program: () => Program<Result>): Promise<Result> {
    return this.dead ? Promise.reject(new Error("killed")) : this.#engine.read(program);
  }

  version(): number {
    return this.#engine.version();
  }

  async close(): Promise<void> {}
}

export interface Tick {
  name: string;
  dueMs: number;
  outcome: string;
  reason: string;
  executionId: string | null;
}

/** Every tick that was decided, by schedule and time. */
export function ticksOf(engine: Engine): Promise<Tick[]> {
  return rows<Tick & Record<string, never>>(
    engine,
    `SELECT s.name, t.due_at AS dueMs, t.outcome, t.reason, t.execution_id AS executionId
FROM ticks t JOIN schedules s ON s.org_id = t.org_id AND s.schedule_id = t.schedule_id ORDER BY s.name, t.due_at`,
  );
}

/** Every execution that a schedule has queued, in order. */
export function runsOf(
  engine: Engine,
): Promise<{ id: string; name: string; status: string; createdMs: number }[]> {
  return rows(
    engine,
    `SELECT execution_id AS id, name, status, created_at AS createdMs FROM executions
WHERE origin = 'schedule' ORDER BY execution_id`,
  );
}
