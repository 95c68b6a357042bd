/** How many executions may be given to the pools of this process. */
import type { Pools } from "./pool/contract.ts";

export class Slots {
  readonly #concurrency: number;
  /** Those that hold no slot although they run: workflows that wait. */
  #suspended = 0;
  /** Promised to executions that are being written, by deployment. */
  readonly #reserved = new Map<string, number>();
  #reservedCount = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** How many more of a deployment can run now, beside so many that run. */
  room(deploymentId: string, pools: Pools, running: number): number {
    const room = this.#concurrency - (running - this.#suspended) - this.#reservedCount;
    return Math.min(pools.free(deploymentId) - (this.#reserved.get(deploymentId) ?? 0), room);
  }

  /** Holds one while the work is pending. */
  async reserve<T>(deploymentId: string, work: () => Promise<T>): Promise<T> {
    this.#add(deploymentId, 1);
    try {
      return await work();
    } finally {
      this.#add(deploymentId, -1);
    }
  }

  /** Frees one while the work is pending. */
  async suspend<T>(work: () => Promise<T>): Promise<T> {
    this.#suspended++;
    try {
      return await work();
    } finally {
      this.#suspended--;
    }
  }

  #add(deploymentId: string, count: 1 | -1): void {
    this.#reservedCount += count;
    const reserved = (this.#reserved.get(deploymentId) ?? 0) + count;
    if (reserved === 0) this.#reserved.delete(deploymentId);
    else this.#reserved.set(deploymentId, reserved);
  }
}
