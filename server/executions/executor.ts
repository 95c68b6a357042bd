/**
 * Runs what is queued: claims due executions under a lease, hands them to the pools of their deployments, and writes down
 * what became of them.
 *
 * The executor is *started* once, then *open* until `close`, which stops claiming, gives running executions a grace and
 * hands the rest back to the queue. It learns of work by `wake` (this process accepted something), by the due time of
 * what waits, and by looking once a second (another process did).
 */
import type { TargetDefinition } from "../../project/definition.ts";
import type { Limits } from "../config.ts";
import type { Engine, Program } from "../store/engine.ts";
import { type ExecutionRow, type NewExecution, toRow } from "../store/executions.ts";
import {
  claimExecutions,
  extendLeases,
  handBackExecution,
  listExpired,
  listOrphaned,
  listWaiting,
} from "../store/leases.ts";
import { insertLogs } from "../store/logs.ts";
import { applyTransition, logLine } from "./apply-transition.ts";
import type { LogWriter } from "./log-writer.ts";
import { executionTopic, logTopic, type Notifier } from "./notifier.ts";
import type { Outcome, Pools } from "./pool/contract.ts";
import { type AttemptParts, runAttempt } from "./run-attempt.ts";
import { Slots } from "./slots.ts";
import { afterAttempt, afterLoss, type Transition } from "./states.ts";

export const leaseMs = 15_000;
export const heartbeatMs = 5_000;
const sweepMs = 1_000;
const reclaimBatch = 1_000;

export interface ExecutorOptions extends AttemptParts {
  engine: Engine;
  /** Names this process in leases; new at every start. */
  owner: string;
  limits: Limits;
  notifier: Notifier;
  logs: LogWriter;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #running = new Map<string, ExecutionRow>();
  readonly #ready = new Set<string>();
  readonly #claiming = new Set<string>();
  #pools: Pools | null = null;
  readonly #slots: Slots;
  #timers: NodeJS.Timeout[] = [];
  #dueTimer: NodeJS.Timeout | null = null;
  #closing = false;
  #lastSweepError: string | null = null;
  #pumping = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#slots = new Slots(options.limits.concurrency);
  }

  /** Begins to run. With `exclusive`, every lease of another owner is one of a dead predecessor's. */
  async start(pools: Pools, exclusive: boolean): Promise<void> {
    this.#pools = pools;
    if (exclusive)
      await this.#reclaim(() => listOrphaned(this.#options.owner, reclaimBatch), "the server ended");
    this.#timers.push(
      setInterval(() => void this.#guard(() => this.#heartbeat()), heartbeatMs),
      setInterval(() => void this.#guard(() => this.#sweep()), sweepMs),
    );
    await this.#sweep();
  }

  /** Something was queued for this deployment. */
  wake(deploymentId: string): void {
    this.#ready.add(deploymentId);
    this.#pump();
  }

  /**
   * Puts a new execution into the queue, or, when there is room for it here and now, past the queue: it is then written
   * as running under this worker's lease, which saves the claim and the sync that comes with it.
   *
   * @param insert - writes the row, or finds the one that stands for it, and returns that one's id
   * @returns that id, once it is on disk
   */
  async enqueue(row: NewExecution, insert: (row: NewExecution) => Program<string>): Promise<string> {
    const { engine, owner } = this.#options;
    const pools = this.#roomFor(row.deployment_id);
    if (pools === null) {
      const id = await engine.write(() => insert(row));
      if (id === row.execution_id) this.wake(row.deployment_id);
      return id;
    }
    return this.#slots.reserve(row.deployment_id, async () => {
      const claimed = { ...row, lease: { owner, untilMs: row.created_at + leaseMs } };
      const id = await engine.write(() => insert(claimed));
      if (id === row.execution_id) void this.#guard(() => this.#run(toRow(claimed), pools));
      return id;
    });
  }

  /** The pools, when a new execution of a deployment would run at once and passes none that waits. */
  #roomFor(deploymentId: string): Pools | null {
    const pools = this.#pools;
    if (pools === null || this.#closing || this.#ready.has(deploymentId)) return null;
    return this.#room(deploymentId, pools) > 0 ? pools : null;
  }

  #room(deploymentId: string, pools: Pools): number {
    return this.#slots.room(deploymentId, pools, this.#running.size);
  }

  /** The rows of executions that run here. */
  running(executionId: string): ExecutionRow | undefined {
    return this.#running.get(executionId);
  }

  /** Asks a running execution to end; false when it does not run here. */
  cancel(executionId: string): boolean {
    const row = this.#running.get(executionId);
    if (row === undefined) return false;
    row.cancel_requested = 1;
    return this.#pools?.cancel(executionId) ?? false;
  }

  /** While `wait` is pending, its execution holds no slot: a workflow that waits must not keep its child from running. */
  withoutSlot<T>(wait: () => Promise<T>): Promise<T> {
    return this.#slots.suspend(() => {
      this.#pump();
      return wait();
    });
  }

  /** @throws Error that says what is wrong. */
  check(): void {
    if (this.#pools === null || this.#closing) throw new Error("not running");
    if (this.#lastSweepError !== null) throw new Error(this.#lastSweepError);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#dueTimer !== null) clearTimeout(this.#dueTimer);
    const settled = [...this.#running.keys()].map((id) => this.#settled(id));
    await this.#pools?.close(graceMs);
    await Promise.all(settled);
    await this.#options.logs.flush();
  }

  #settled(executionId: string): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#options.notifier.subscribe(`settled ${executionId}`, () => {
        stop();
        resolve();
      });
    });
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // One claim for all that is accepted in this turn of the event loop.
    queueMicrotask(() => {
      this.#pumping = false;
      for (const deploymentId of this.#ready) void this.#guard(() => this.#claim(deploymentId));
    });
  }

  async #claim(deploymentId: string): Promise<void> {
    const pools = this.#pools;
    if (pools === null || this.#closing || this.#claiming.has(deploymentId)) return;
    const limit = this.#room(deploymentId, pools);
    if (limit <= 0) return;
    this.#ready.delete(deploymentId);
    this.#claiming.add(deploymentId);
    try {
      const { engine, owner } = this.#options;
      const rows = await engine.write(() => {
        const now = Date.now();
        return claimExecutions(deploymentId, limit, owner, now + leaseMs, now);
      });
      if (rows.length === limit) this.#ready.add(deploymentId);
      for (const row of rows) void this.#guard(() => this.#run(row, pools));
    } finally {
      this.#claiming.delete(deploymentId);
      if (this.#ready.has(deploymentId)) this.#pump();
    }
  }

  async #run(row: ExecutionRow, pools: Pools): Promise<void> {
    this.#running.set(row.execution_id, row);
    this.#options.notifier.notify(executionTopic(row.execution_id));
    const { outcome, target } = await runAttempt(this.#options, row, pools);
    try {
      await this.#settle(row, target, outcome);
    } finally {
      this.#running.delete(row.execution_id);
      this.#options.notifier.notify(`settled ${row.execution_id}`);
      this.#options.notifier.notify(executionTopic(row.execution_id));
      // Only what is known to wait is looked for: asking the store after each execution would cost as much as a claim.
      if (this.#ready.size > 0) this.#pump();
    }
  }

  async #settle(row: ExecutionRow, target: TargetDefinition | undefined, outcome: Outcome): Promise<void> {
    const state = {
      attempt: row.attempt,
      losses: row.losses,
      cancelRequested: row.cancel_requested === 1,
      retry: target?.retry ?? null,
    };
    // Handing back on shutdown is not a loss: it must not count towards giving up.
    if (this.#closing && outcome.type === "lost") return this.#handBack(row);
    await this.#apply(row, afterAttempt(state, outcome, Date.now(), Math.random));
  }

  async #handBack(row: ExecutionRow): Promise<void> {
    await this.#options.engine.write(() => handBackExecution(row, Date.now()));
  }

  async #apply(row: ExecutionRow, transition: Transition): Promise<void> {
    const { engine } = this.#options;
    const now = Date.now();
    const line = logLine(row, transition, now);
    await engine.write(function* () {
      const held = yield* applyTransition(row, transition, now);
      if (held && line !== null) yield* insertLogs([line]);
    });
    if (line !== null) this.#options.notifier.notify(logTopic(row.org_id));
    if (transition.to === "queued") this.#wakeAt(transition.dueAtMs);
  }

  async #heartbeat(): Promise<void> {
    if (this.#running.size === 0) return;
    const { engine, owner } = this.#options;
    await engine.write(() => extendLeases(owner, Date.now() + leaseMs));
  }

  async #sweep(): Promise<void> {
    const { engine, owner } = this.#options;
    await this.#reclaim(() => listExpired(owner, Date.now(), reclaimBatch), "its worker stopped answering");
    const now = Date.now();
    for (const { deployment_id, due_at } of await engine.read(listWaiting)) {
      if (due_at <= now) this.wake(deployment_id);
      else this.#wakeAt(due_at);
    }
  }

  /** Looks for due work when the earliest of what waits is due, if that is before the next sweep. */
  #wakeAt(dueAtMs: number): void {
    const delay = dueAtMs - Date.now();
    if (delay >= sweepMs || this.#closing || this.#dueTimer !== null) return;
    this.#dueTimer = setTimeout(
      () => {
        this.#dueTimer = null;
        void this.#guard(() => this.#sweep());
      },
      Math.max(delay, 1),
    );
  }

  async #reclaim(list: () => Program<ExecutionRow[]>, reason: string): Promise<void> {
    const { engine } = this.#options;
    for (;;) {
      const rows = await engine.read(list);
      for (const row of rows) {
        const state = {
          attempt: row.attempt,
          losses: row.losses,
          cancelRequested: row.cancel_requested === 1,
          retry: null,
        };
        await this.#apply(row, afterLoss(state, `${reason}.`, row.alone === 1, Date.now()));
        this.#options.notifier.notify(executionTopic(row.execution_id));
      }
      if (rows.length < reclaimBatch) return;
    }
  }

  /** A failing store must not end the process: the lease runs out and the work is done again. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#lastSweepError = null;
    } catch (error) {
      if (this.#closing) return;
      this.#lastSweepError = error instanceof Error ? error.message : String(error);
      console.error("The executor failed:", this.#lastSweepError);
    }
  }
}
