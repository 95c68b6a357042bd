/**
 * Claims due executions for as many slots as are free.
 *
 * States of a deployment: *unknown*; *ready*, may have due executions; *claiming*, while a claim is being written. `wake`
 * makes it ready. A claim of all that there is room for leaves it ready, and one that found fewer makes it unknown again.
 *
 * Invariant: each execution that runs here, from its claim or the acceptance by `reserve` until `release`, holds one slot of
 * its organization and deployment or is *ahead*: it waits in the pool for the end of a short attempt, whose slot it takes
 * over. Without executions ahead, runners of short attempts would wait for each claim and its commit.
 */
import type { Engine } from "../../store/engine.ts";
import {
  claimExecutions,
  earliestDue,
  organizationOfQueue,
  type RunningExecution,
} from "../../store/tables/leases.ts";
import type { NewExecution } from "../../store/tables/new-executions.ts";
import { ConcurrencyLimiter } from "../concurrency.ts";
import type { Pools } from "../pool/contract.ts";
import type { Health } from "./health.ts";
import { leaseMs } from "./leases.ts";

export interface ClaimOptions {
  engine: Engine;
  owner: string;
  /** Slots of this process. */
  concurrency: number;
  pools: Pools;
  closing: AbortSignal;
  health: Health;
  /** Called after a claim that found nothing due, with the earliest due time of its deployment. */
  onDue(dueAtMs: number): void;
  /** Runs an execution that holds a slot. */
  start(row: RunningExecution): void;
}

export class Claims {
  readonly #options: ClaimOptions;
  readonly #limiter: ConcurrencyLimiter;
  /** The least recently claimed deployment comes first. */
  readonly #ready = new Set<string>();
  readonly #claiming = new Set<string>();
  /** The number of executions ahead, by deployment. */
  readonly #ahead = new Map<string, number>();
  /** The organizations of deployments. */
  readonly #organizations = new Map<string, string>();
  /** How many waits each execution without a slot has. */
  readonly #waits = new Map<RunningExecution, number>();
  #pumping = false;

  constructor(options: ClaimOptions) {
    this.#options = options;
    this.#limiter = new ConcurrencyLimiter(options.concurrency);
  }

  /** Of the store. */
  set organizationCount(count: number) {
    this.#limiter.organizationCount = count;
  }

  /** Claims executions of a deployment. */
  wake(deploymentId: string): void {
    this.#ready.add(deploymentId);
    this.#pump();
  }

  /**
   * Takes a slot for a new execution that can start immediately without overtaking a queued one of its deployment.
   *
   * @returns a function that releases the slot unless the execution has started; null when the execution must queue
   */
  reserve(row: NewExecution): ((started: number) => void) | null {
    const { org_id, deployment_id } = row;
    if (this.#options.closing.aborted || this.#ready.has(deployment_id)) return null;
    const free = this.#options.pools.free(deployment_id);
    if (this.#limiter.room(org_id, deployment_id, free) > 0) {
      return this.#limiter.reserve(org_id, deployment_id, 1);
    }
    if (this.#aheadRoom(org_id, deployment_id, 0) <= 0) return null;
    this.#addAhead(deployment_id, 1);
    return (started) => {
      if (started === 0) this.release(row);
    };
  }

  /** Releases the slot of an execution, or passes it on to one ahead. */
  release({ org_id, deployment_id }: Pick<RunningExecution, "org_id" | "deployment_id">): void {
    if (this.#ahead.has(deployment_id)) this.#addAhead(deployment_id, -1);
    else this.#limiter.hold(org_id, deployment_id, -1);
    // Only for known queues: a query after each execution would cost as much as a claim.
    if (this.#ready.size > 0) this.#pump();
  }

  /** Releases the slot of an execution during `wait`. An execution that waits several times at once has one slot. */
  async withoutSlot<T>(row: RunningExecution, wait: () => Promise<T>): Promise<T> {
    const waits = this.#waits.get(row) ?? 0;
    this.#waits.set(row, waits + 1);
    if (waits === 0) this.release(row);
    try {
      return await wait();
    } finally {
      const left = (this.#waits.get(row) ?? 1) - 1;
      if (left > 0) this.#waits.set(row, left);
      else {
        this.#waits.delete(row);
        this.#limiter.hold(row.org_id, row.deployment_id, 1);
      }
    }
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    // One claim for all executions that are queued in this turn of the event loop.
    queueMicrotask(() => {
      this.#pumping = false;
      for (const deploymentId of this.#ready)
        void this.#options.health.guard(() => this.#claim(deploymentId));
    });
  }

  async #claim(deploymentId: string): Promise<void> {
    const { closing } = this.#options;
    if (closing.aborted || this.#claiming.has(deploymentId)) return;
    let hadRoom = true;
    this.#claiming.add(deploymentId);
    try {
      const orgId = await this.#organizationOf(deploymentId);
      if (orgId !== undefined && !closing.aborted) hadRoom = await this.#claimFor(orgId, deploymentId);
    } finally {
      this.#claiming.delete(deploymentId);
    }
    if (hadRoom && this.#ready.has(deploymentId)) this.#pump();
  }

  /** Claims as many executions as there is room for. False when there is none. */
  async #claimFor(orgId: string, deploymentId: string): Promise<boolean> {
    const { engine, owner, pools, start, onDue } = this.#options;
    const free = pools.free(deploymentId);
    const places = Math.max(0, this.#limiter.room(orgId, deploymentId, free));
    const limit = places + this.#aheadRoom(orgId, deploymentId, places);
    let claimed = 0;
    let claimedMs = 0;
    if (limit > 0) {
      this.#ready.delete(deploymentId);
      // Not `reserve`: new executions may start during the claim. If they had to queue, each would need a claim, which
      // costs a third more CPU per execution under load. The pool queues the few that exceed its room.
      this.#limiter.hold(orgId, deploymentId, places);
      try {
        const rows = await engine.write(() => {
          claimedMs = Date.now();
          return claimExecutions(deploymentId, limit, owner, claimedMs + leaseMs, claimedMs);
        });
        claimed = rows.length;
        for (const row of rows) start(row);
      } finally {
        const held = Math.min(claimed, places);
        this.#limiter.hold(orgId, deploymentId, held - places);
        this.#addAhead(deploymentId, claimed - held);
        // Other deployments had no room while this one held all of it.
        if (held < places && this.#ready.size > 0) this.#pump();
      }
    }
    const isDrained = claimed < limit;
    // The clock of the process that queued an execution may be a little ahead of this one.
    if (limit > 0 && claimed === 0) {
      const dueAtMs = await engine.read(() => earliestDue(deploymentId));
      // An execution that is due was locked by another worker.
      if (dueAtMs !== null && dueAtMs > claimedMs) onDue(dueAtMs);
    }
    // A deployment that lacks runners does not wait for slots.
    this.#limiter.setWaiting(orgId, deploymentId, !isDrained && limit < free);
    if (limit > 0 && !isDrained) this.#ready.add(deploymentId);
    return limit > 0;
  }

  /**
   * The number of further executions that may be ahead, when `places` more will hold slots. Only in slots that are free, so
   * that a deployment that has its share gets no more.
   */
  #aheadRoom(orgId: string, deploymentId: string, places: number): number {
    const slots = this.#limiter.room(orgId, deploymentId, Number.POSITIVE_INFINITY) - places;
    const ahead = this.#ahead.get(deploymentId) ?? 0;
    return Math.max(0, Math.min(slots, this.#options.pools.ahead(deploymentId)) - ahead);
  }

  #addAhead(deploymentId: string, count: number): void {
    const ahead = (this.#ahead.get(deploymentId) ?? 0) + count;
    if (ahead > 0) this.#ahead.set(deploymentId, ahead);
    else this.#ahead.delete(deploymentId);
  }

  /** Undefined, and not ready any more, when the deployment has no queued executions. */
  async #organizationOf(deploymentId: string): Promise<string | undefined> {
    const known = this.#organizations.get(deploymentId);
    if (known !== undefined) return known;
    // Before the read, so that a `wake` during the read counts.
    this.#ready.delete(deploymentId);
    const orgId = await this.#options.engine.read(() => organizationOfQueue(deploymentId));
    if (orgId === undefined) return undefined;
    this.#organizations.set(deploymentId, orgId);
    this.#ready.add(deploymentId);
    return orgId;
  }
}
