/** A simulated clock, and schedulers that can crash. */

import type { Clock } from "../../server/schedules/scheduler.ts";
import { Scheduler } from "../../server/schedules/scheduler.ts";
import type { Engine, Listener, Program, Topic } from "../../server/store/engine.ts";
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

  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  /** Sets the wall clock without letting time pass. */
  set(wallMs: number): void {
    this.#wallMs = wallMs;
  }
}

export interface SimulatedScheduler {
  scheduler: Scheduler;
  /** The deployments it has woken, in order. */
  woken: string[];
}

/** A scheduler without a timer: the test calls `pass`. */
export function newScheduler(engine: Engine, clock: Clock): SimulatedScheduler {
  const woken: string[] = [];
  engine.listen("queued", (deploymentId) => {
    if (deploymentId !== null) woken.push(deploymentId);
  });
  return { scheduler: new Scheduler({ engine, clock }), woken };
}

/** Simulates a process that crashes before or after a write: the write is complete or absent, and its caller gets no result. */
export class CrashingEngine implements Engine {
  readonly ordered = true;
  readonly #engine: Engine;
  /** Decides before each write. */
  readonly #chooseFate: () => "continue" | "crash before" | "crash after";
  /** Called after each committed write. */
  readonly #committed: () => void;
  crashed = false;

  constructor(
    engine: Engine,
    chooseFate: () => "continue" | "crash before" | "crash after",
    committed: () => void = () => {},
  ) {
    this.#engine = engine;
    this.#chooseFate = chooseFate;
    this.#committed = committed;
  }

  async write<Result>(program: () => Program<Result>): Promise<Result> {
    const fate = this.crashed ? "crash before" : this.#chooseFate();
    if (fate !== "continue") this.crashed = true;
    if (fate === "crash before") throw new Error("killed");
    const result = await this.#engine.write(program);
    this.#committed();
    if (fate === "crash after") throw new Error("killed");
    return result;
  }

  read<Result>(program: () => Program<Result>): Promise<Result> {
    return this.crashed ? Promise.reject(new Error("killed")) : this.#engine.read(program);
  }

  listen(topic: Topic, listener: Listener): () => void {
    return this.#engine.listen(topic, listener);
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

/** All recorded ticks, by schedule and time. */
export function ticksOf(engine: Engine): Promise<Tick[]> {
  return rows<Tick & Record<string, never>>(
    engine,
    `SELECT s.name, t.due_at AS "dueMs", t.outcome, t.reason, t.execution_id AS "executionId"
FROM ticks t JOIN schedules s ON s.org_id = t.org_id AND s.schedule_id = t.schedule_id ORDER BY s.name, t.due_at`,
  );
}

/** All executions that schedules have queued, in order. */
export function runsOf(
  engine: Engine,
): Promise<{ id: string; name: string; status: string; createdMs: number }[]> {
  return rows(
    engine,
    `SELECT execution_id AS id, name, status, created_at AS "createdMs" FROM executions
WHERE origin = 'schedule' ORDER BY execution_id`,
  );
}
