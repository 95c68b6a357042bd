/** The children of one deployment and the jobs that wait for them. */
import { availableParallelism } from "node:os";
import { Child } from "./child.ts";
import type { Job, Outcome, PoolOptions } from "./contract.ts";
import { launch } from "./launch.ts";
import { PackageError } from "./modules.ts";
import { lost } from "./outcomes.ts";
import { StartBudget } from "./starts.ts";

interface WaitingJob {
  job: Job;
  resolve: (outcome: Outcome | Promise<Outcome>) => void;
}

/** After so many children in a row that ended before they were ready, what waits is handed back. */
const maxFailedStarts = 3;

/** How long a deployment's children yield to everybody else's after one of them has disturbed the machine. */
const yieldMs = 10_000;

/** States: *in use*, or *retired* (its children end when they have no job); *empty* when it holds nothing any more. */
export class DeploymentPool {
  readonly #deploymentId: string;
  readonly #options: PoolOptions;
  readonly #onEmpty: () => void;
  readonly #children = new Set<Child>();
  /** The child of each job that was given to one. */
  readonly #owners = new Map<string, Child>();
  readonly #budget = new StartBudget();
  #queue: WaitingJob[] = [];
  #starting = 0;
  #failedStarts = 0;
  #startTimer: ReturnType<typeof setTimeout> | undefined;
  /** Runs while its children yield. */
  #yieldTimer: ReturnType<typeof setTimeout> | undefined;
  #disturbsGravely = false;
  #retired = false;
  #pumping = false;

  /** @param onEmpty - called each time that it comes to hold neither a job nor a child */
  constructor(deploymentId: string, options: PoolOptions, onEmpty: () => void) {
    this.#deploymentId = deploymentId;
    this.#options = options;
    this.#onEmpty = onEmpty;
  }

  get free(): number {
    if (this.#retired) return 0;
    const { executionsPerChild } = this.#options.limits;
    let room = Math.max(0, this.#maxChildren - this.#children.size + this.#starting) * executionsPerChild;
    for (const child of this.#children) room += child.room;
    return Math.max(0, room - this.#queue.length);
  }

  /**
   * While they yield, children leave a processor free where there are two or more; two there are always, so that a job
   * that must be alone does not keep the others waiting.
   */
  get #maxChildren(): number {
    const { childrenPerDeployment } = this.#options.limits;
    return this.#yieldTimer === undefined
      ? childrenPerDeployment
      : Math.min(childrenPerDeployment, Math.max(2, availableParallelism() - 1));
  }

  /** It holds neither a job nor a child. */
  get empty(): boolean {
    return this.#children.size === 0 && this.#queue.length === 0;
  }

  run(job: Job): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#queue.push({ job, resolve });
      this.#pump();
    });
  }

  /** False when it has no such job. */
  cancel(executionId: string): boolean {
    const index = this.#queue.findIndex(({ job }) => job.executionId === executionId);
    if (index >= 0) {
      for (const { resolve } of this.#queue.splice(index, 1)) resolve({ type: "cancelled" });
      this.#pump();
      return true;
    }
    const child = this.#owners.get(executionId);
    child?.cancel(executionId);
    return child !== undefined;
  }

  /** @throws Error when no child could be started */
  async warm(): Promise<void> {
    this.#retired = false;
    if (this.#children.size > 0) return;
    await this.#start({ preload: true });
  }

  retire(): void {
    this.#retired = true;
    this.#pump();
  }

  /** Hands back what waits for a child. */
  handBackQueue(reason: string): void {
    for (const { resolve } of this.#queue.splice(0)) resolve(lost(reason));
    this.#pump();
  }

  /** Ends every child at once. */
  handBackAll(reason: string): void {
    this.#retired = true;
    for (const child of this.#children) child.end(reason);
    this.handBackQueue(reason);
  }

  /** Gives waiting jobs to children with room, and starts and ends children as that needs. */
  #pump(): void {
    // Giving a job to a child may change it, which would come back here.
    if (this.#pumping) return;
    this.#pumping = true;
    const rest: WaitingJob[] = [];
    for (const waiting of this.#queue) {
      const child = waiting.job.alone ? this.#freshChild() : this.#roomiestChild();
      if (child === undefined) rest.push(waiting);
      else this.#give(waiting, child);
    }
    this.#queue = rest;
    this.#replaceWorn();
    this.#startForQueue();
    if (this.#retired) for (const child of this.#children) if (child.idle) child.drain();
    this.#pumping = false;
    if (this.#queue.length === 0) clearTimeout(this.#startTimer);
    if (this.empty) this.#onEmpty();
  }

  #give({ job, resolve }: WaitingJob, child: Child): void {
    const { executionId } = job;
    this.#owners.set(executionId, child);
    child.take(job, (outcome) => {
      this.#owners.delete(executionId);
      resolve(outcome);
    });
  }

  #roomiestChild(): Child | undefined {
    let best: Child | undefined;
    let bestRoom = 0;
    for (const child of this.#children) {
      const { room } = child;
      if (room > bestRoom) [best, bestRoom] = [child, room];
    }
    return best;
  }

  /** A child for a job that must be alone: they never take all children, since they may well spin. */
  #freshChild(): Child | undefined {
    if (this.#aloneRoom <= 0) return undefined;
    for (const child of this.#children) if (child.fresh && child.room > 0) return child;
    return undefined;
  }

  get #aloneRoom(): number {
    let room = Math.max(1, this.#maxChildren - 1);
    for (const child of this.#children) if (child.reserved) room -= 1;
    return room;
  }

  /** Lets a child with too much memory go once another can take over. */
  #replaceWorn(): void {
    for (const child of this.#children) {
      if (!child.worn) continue;
      const successor = [...this.#children].some((other) => !other.worn && other.room > 0);
      if (successor || this.#children.size >= this.#maxChildren) child.drain();
      else if (this.#starting === 0) this.#startSoon();
      return;
    }
  }

  #startForQueue(): void {
    if (this.#queue.length === 0) return;
    const waitingAlone = this.#queue.filter(({ job }) => job.alone).length;
    const alone = Math.min(waitingAlone, this.#aloneRoom);
    const shared = Math.ceil((this.#queue.length - waitingAlone) / this.#options.limits.executionsPerChild);
    for (let wanted = alone + shared - this.#starting; wanted > 0; wanted--) {
      if (this.#children.size >= this.#maxChildren) {
        if (alone > 0) this.#makeRoom();
        return;
      }
      if (!this.#startSoon()) return;
    }
  }

  /** A job that must be alone takes the place of the child that is done soonest; one at a time makes room. */
  #makeRoom(): void {
    const children = [...this.#children];
    if (children.some((child) => child.draining || child.reserved)) return;
    const open = children.filter((child) => child.idle || child.jobCount > 0);
    open.toSorted((a, b) => a.jobCount - b.jobCount)[0]?.drain();
  }

  /** False when the budget does not allow a start now; then it comes later. */
  #startSoon(): boolean {
    const waitMs = this.#budget.take();
    if (waitMs > 0) {
      clearTimeout(this.#startTimer);
      this.#startTimer = setTimeout(() => this.#pump(), waitMs);
      return false;
    }
    this.#start({ preload: false }).catch((error: unknown) => {
      if (++this.#failedStarts < maxFailedStarts) return;
      this.#failedStarts = 0;
      // Why is for whoever runs the server: it may name paths. What is wrong with a package is for its author.
      console.error("Cannot start a process for executions:", error);
      const why = error instanceof PackageError ? `: ${error.message}` : "";
      this.handBackQueue(`Its process could not be started${why}`);
    });
    return true;
  }

  async #start({ preload }: { preload: boolean }): Promise<void> {
    const { events, limits, locate } = this.#options;
    const child = new Child(this.#deploymentId, limits, {
      log: (deploymentId, entries) => events.log(deploymentId, entries),
      run: (executionId, request, signal) => events.run(executionId, request, signal),
      changed: () => this.#pump(),
      disturbs: (gravely) => this.#yield(gravely),
      ended: () => this.#remove(child),
    });
    this.#children.add(child);
    this.#starting += 1;
    try {
      const location = await locate(this.#deploymentId);
      await launch(child, location, this.#options, this.#yieldTimer !== undefined);
      if (this.#yieldTimer === undefined) child.stopYielding();
      else child.yieldToOthers(this.#disturbsGravely);
      this.#failedStarts = 0;
      if (preload) for (const module of location.modules ?? []) void child.load(module);
    } catch (error) {
      this.#children.delete(child);
      throw error;
    } finally {
      this.#starting -= 1;
      this.#pump();
    }
  }

  /** Whoever leaks, spins or crashes does so again, and each of its processes would take its share of the machine. */
  #yield(gravely: boolean): void {
    this.#disturbsGravely ||= gravely;
    for (const child of this.#children) child.yieldToOthers(gravely);
    clearTimeout(this.#yieldTimer);
    this.#yieldTimer = setTimeout(() => {
      this.#yieldTimer = undefined;
      this.#disturbsGravely = false;
      for (const child of this.#children) child.stopYielding();
      this.#pump();
    }, yieldMs);
    this.#yieldTimer.unref();
  }

  #remove(child: Child): void {
    this.#children.delete(child);
    this.#pump();
  }
}
