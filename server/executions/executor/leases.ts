/**
 * Keeps the leases of the executions that run here, and learns of cancellations in other processes with it. A lease is lost
 * when the heartbeat does not find it: its execution is aborted, because another worker may run it already.
 *
 * A lease whose execution does not run here is a *stray*: the commit of its claim or acceptance took effect, but the write
 * failed. The heartbeat extends it too, so that no other worker would take it over.
 */
import type { Engine } from "../../store/engine.ts";
import { type ExtendedLease, extendLeases, holdsLeases, listCancelled } from "../../store/tables/leases.ts";
import type { Pools } from "../pool/contract.ts";
import { requeueStrays } from "../requeue-abandoned.ts";
import type { RunningExecutions } from "./running.ts";

export const leaseMs = 15_000;
export const heartbeatMs = 5_000;

/** After this time, the write of a stray lease has failed: the outcome of a commit is looked up for 30 s. */
const strayMs = 40_000;

export interface LeaseOptions {
  engine: Engine;
  owner: string;
  pools: Pools;
  running: RunningExecutions;
}

export class Leases {
  readonly #options: LeaseOptions;
  /** When the strays were found, by the id of their execution. */
  #strays = new Map<string, number>();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Extends the leases, and aborts executions that another process has cancelled, or whose lease was lost. */
  async heartbeat(): Promise<void> {
    const { engine, owner, pools, running } = this.#options;
    // A write of an idle worker would be a sync of the disk.
    if (running.size === 0 && !(await engine.read(() => holdsLeases(owner)))) return;
    const before = running.list();
    const extended = await engine.write(() => extendLeases(owner, Date.now() + leaseMs));
    const leases = new Map(extended.map((lease) => [lease.execution_id, lease]));
    for (const row of before) {
      if (!running.has(row) || row.lease_owner === null) continue;
      const lease = leases.get(row.execution_id);
      const held = lease?.attempt === row.attempt && lease.losses === row.losses;
      if (held && lease.cancel_requested === 1 && row.cancel_requested === 0) this.cancel(row.execution_id);
      if (held) continue;
      // Its result would be discarded.
      row.lease_owner = null;
      pools.cancel(row.execution_id);
    }
    await this.#requeueStrays(extended);
  }

  async #requeueStrays(extended: readonly ExtendedLease[]): Promise<void> {
    const { engine, owner, running } = this.#options;
    const now = Date.now();
    const known = this.#strays;
    this.#strays = new Map();
    for (const { execution_id: id } of extended) {
      if (running.get(id) === undefined) this.#strays.set(id, known.get(id) ?? now);
    }
    const isOver = (id: string): boolean =>
      running.get(id) === undefined && now - (this.#strays.get(id) ?? now) >= strayMs;
    if (![...this.#strays.keys()].some(isOver)) return;
    await requeueStrays(engine, owner, (row) => isOver(row.execution_id));
  }

  /** Aborts executions that another process has cancelled. */
  async cancelRequested(): Promise<void> {
    const { engine, owner, running } = this.#options;
    if (running.size === 0) return;
    for (const id of await engine.read(() => listCancelled(owner))) {
      if (running.get(id)?.cancel_requested === 0) this.cancel(id);
    }
  }

  /** Aborts an execution, if it runs here. */
  cancel(executionId: string): void {
    const { pools, running } = this.#options;
    const row = running.get(executionId);
    if (row === undefined) return;
    row.cancel_requested = 1;
    pools.cancel(executionId);
  }
}
