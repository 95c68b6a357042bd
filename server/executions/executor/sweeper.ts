/**
 * Finds what no notification tells: executions whose worker has ended, and due executions. It sweeps regularly, because a
 * notification may be lost, and at the earliest due time in the queue.
 *
 * An expired lease shows that its worker has ended only if the worker could extend it. After a time without an answer of the
 * store, which all workers may share, each gets the time to send a heartbeat before leases are judged again.
 */
import type { Engine } from "../../store/engine.ts";
import { listExpiredOwners, listWaiting, type RunningExecution } from "../../store/tables/leases.ts";
import { countOrganizations } from "../../store/tables/organizations.ts";
import { requeueAbandoned } from "../requeue-abandoned.ts";
import type { Transition } from "../states.ts";
import type { Claims } from "./claims.ts";
import type { Health } from "./health.ts";
import { heartbeatMs, type Leases, leaseMs } from "./leases.ts";

export const sweepMs = 1_000;

export interface SweepOptions {
  engine: Engine;
  owner: string;
  claims: Claims;
  leases: Leases;
  /** Called after each write of a transition. */
  onEnd(row: RunningExecution, transition: Transition): void;
  closing: AbortSignal;
  health: Health;
}

export class Sweeper {
  readonly #options: SweepOptions;
  #dueTimer: NodeJS.Timeout | null = null;
  /** The time of the last answer of the store; null before the first one. */
  #answeredMs: number | null = null;
  /** When leases are judged again. */
  #judgesFromMs = 0;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  async sweep(): Promise<void> {
    const { engine, claims } = this.#options;
    claims.organizationCount = await engine.read(countOrganizations);
    await this.#requeueExpired();
    const now = Date.now();
    for (const { deployment_id, due_at } of await engine.read(listWaiting)) {
      if (due_at <= now) claims.wake(deployment_id);
      else this.wakeAt(due_at);
    }
  }

  /** Requeues executions of workers that have ended. Called after an answer of the store. */
  async #requeueExpired(): Promise<void> {
    const { engine, owner, leases, onEnd } = this.#options;
    const now = Date.now();
    const silentMs = now - (this.#answeredMs ?? now);
    this.#answeredMs = now;
    if (silentMs > heartbeatMs) {
      this.#judgesFromMs = now + leaseMs + heartbeatMs;
      await leases.heartbeat();
    }
    if (now < this.#judgesFromMs) return;
    await requeueAbandoned(
      engine,
      () => listExpiredOwners(owner, Date.now()),
      (rows) => rows.every(({ lease_until }) => (lease_until ?? 0) <= Date.now()),
      "The lease of its worker expired.",
      onEnd,
    );
  }

  /** Sweeps at the due time of an execution, if that is before the next regular sweep. */
  wakeAt(dueAtMs: number): void {
    const { closing, health } = this.#options;
    const delay = dueAtMs - Date.now();
    if (delay >= sweepMs || closing.aborted || this.#dueTimer !== null) return;
    this.#dueTimer = setTimeout(
      () => {
        this.#dueTimer = null;
        void health.guard(() => this.sweep());
      },
      Math.max(delay, 1),
    );
  }

  stop(): void {
    if (this.#dueTimer !== null) clearTimeout(this.#dueTimer);
  }
}
