/** The children of one deployment and the jobs that wait for them. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Child } from "./child.ts";
import type { Job, Outcome, PoolOptions } from "./contract.ts";
import { provideModules } from "./modules.ts";

interface Waiting {
  job: Job;
  resolve: (outcome: Outcome) => void;
}

/** After so many children in a row that ended before they were ready, what waits is handed back. */
const maxFailedStarts = 3;

export class DeploymentPool {
  readonly #deploymentId: string;
  readonly #options: PoolOptions;
  readonly #onEmpty: () => void;
  readonly #children = new Set<Child>();
  readonly #where = new Map<string, Child>();
  #queue: Waiting[] = [];
  #starting = 0;
  #failedStarts = 0;
  #retired = false;
  #pumping = false;

  /** @param onEmpty - called when it holds neither a job nor a child */
  constructor(deploymentId: string, options: PoolOptions, onEmpty: () => void) {
    this.#deploymentId = deploymentId;
    this.#options = options;
    this.#onEmpty = onEmpty;
  }

  get free(): number {
    if (this.#retired) return 0;
    const { executionsPerChild, childrenPerDeployment } = this.#options.limits;
    let room = (childrenPerDeployment - this.#children.size + this.#starting) * executionsPerChild;
    for (const child of this.#children) room += child.room;
    return Math.max(0, room - this.#queue.length);
  }

  get jobs(): number {
    return this.#queue.length + this.#where.size;
  }

  run(job: Job): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#queue.push({ job, resolve });
      this.#pump();
    });
  }

  cancel(executionId: string): boolean {
    const index = this.#queue.findIndex(({ job }) => job.executionId === executionId);
    if (index >= 0) {
      for (const { resolve } of this.#queue.splice(index, 1)) resolve({ type: "cancelled" });
      return true;
    }
    const child = this.#where.get(executionId);
    child?.cancel(executionId);
    return child !== undefined;
  }

  async warm(modules: string[] = []): Promise<void> {
    this.#retired = false;
    if (this.#children.size === 0) await this.#start();
    for (const child of this.#children) for (const module of modules) await child.load(module);
  }

  retire(): void {
    this.#retired = true;
    this.#endIdle();
  }

  /** Hands back what waits for a child. */
  handBackQueue(reason: string): void {
    for (const { resolve } of this.#queue.splice(0)) resolve({ type: "lost", reason, suspect: false });
  }

  /** Ends every child at once. */
  handBackAll(reason: string): void {
    this.#retired = true;
    this.handBackQueue(reason);
    for (const child of this.#children) child.handBack(reason);
  }

  /** Gives waiting jobs to children with room, and starts children for the rest. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const rest: Waiting[] = [];
    let alone = 0;
    for (const waiting of this.#queue) {
      const child = waiting.job.alone ? this.#freshChild() : this.#roomiest();
      if (child === undefined) {
        rest.push(waiting);
        if (waiting.job.alone) alone += 1;
        continue;
      }
      const { executionId } = waiting.job;
      this.#where.set(executionId, child);
      child.take(waiting.job, (outcome) => {
        this.#where.delete(executionId);
        waiting.resolve(outcome);
      });
    }
    this.#queue = rest;
    this.#pumping = false;
    this.#startFor(rest.length - alone, alone);
    if (this.#retired) this.#endIdle();
    if (this.#children.size === 0 && this.jobs === 0) this.#onEmpty();
  }

  #roomiest(): Child | undefined {
    let best: Child | undefined;
    let room = 0;
    for (const child of this.#children) {
      if (child.room > room) [best, room] = [child, child.room];
    }
    return best;
  }

  #freshChild(): Child | undefined {
    for (const child of this.#children) if (child.fresh && child.room > 0) return child;
    return undefined;
  }

  #startFor(shared: number, alone: number): void {
    const { executionsPerChild, childrenPerDeployment } = this.#options.limits;
    const wanted = Math.ceil(shared / executionsPerChild) + alone - this.#starting;
    for (let i = 0; i < wanted; i++) {
      if (this.#children.size >= childrenPerDeployment) {
        // A job that must be alone takes the place of a child that has nothing to do.
        if (alone > 0) [...this.#children].find((child) => child.idle)?.drain();
        return;
      }
      void this.#start();
    }
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    const { events, limits, scratchRoot, locate } = this.#options;
    const child = new Child(this.#deploymentId, limits, {
      ...events,
      log: events.log.bind(events),
      run: events.run.bind(events),
      changed: () => this.#pump(),
      ended: () => {
        this.#children.delete(child);
        this.#pump();
      },
    });
    this.#children.add(child);
    try {
      const { directory } = await locate(this.#deploymentId);
      const provided = await provideModules(directory);
      const scratch = join(scratchRoot, randomUUID());
      await child.start({ directory, provided, scratch, cache: join(scratchRoot, "cache"), limits });
      this.#failedStarts = 0;
    } catch (error) {
      this.#children.delete(child);
      if (++this.#failedStarts >= maxFailedStarts) {
        this.#failedStarts = 0;
        this.handBackQueue(
          `Its process could not be started: ${error instanceof Error ? error.message : error}`,
        );
      }
    } finally {
      this.#starting -= 1;
      this.#pump();
    }
  }

  #endIdle(): void {
    for (const child of this.#children) if (child.idle) child.drain();
  }
}
