/** The pools of all deployments. */

import { checkModules } from "./check.ts";
import type { Job, ModuleCheck, Outcome, PackageLocation, PoolOptions, Pools } from "./contract.ts";
import { DeploymentPool } from "./deployment.ts";

export function createPools(options: PoolOptions): Pools {
  return new AllPools(options);
}

class AllPools implements Pools {
  readonly #options: PoolOptions;
  readonly #pools = new Map<string, DeploymentPool>();
  readonly #where = new Map<string, DeploymentPool>();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async run(job: Job): Promise<Outcome> {
    if (this.#closed) return lost("The server is closing");
    if (this.#where.has(job.executionId)) return lost("The execution runs here already");
    const pool = this.#pool(job.deploymentId);
    this.#where.set(job.executionId, pool);
    try {
      return await pool.run(job);
    } finally {
      this.#where.delete(job.executionId);
    }
  }

  free(deploymentId: string): number {
    if (this.#closed) return 0;
    const { executionsPerChild, childrenPerDeployment } = this.#options.limits;
    return this.#pools.get(deploymentId)?.free ?? executionsPerChild * childrenPerDeployment;
  }

  cancel(executionId: string): boolean {
    return this.#where.get(executionId)?.cancel(executionId) ?? false;
  }

  async warm(deploymentId: string): Promise<void> {
    if (!this.#closed) await this.#pool(deploymentId).warm();
  }

  check(location: PackageLocation, modules: string[], timeoutMs: number): Promise<ModuleCheck[]> {
    return checkModules(this.#options, location, modules, timeoutMs);
  }

  retire(deploymentId: string): void {
    this.#pools.get(deploymentId)?.retire();
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    for (const pool of this.#pools.values()) {
      pool.handBackQueue("The server is closing");
      pool.retire();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    if (this.#pools.size === 0) return;
    const timer = setTimeout(() => {
      for (const pool of this.#pools.values()) pool.handBackAll("The server is closing");
    }, graceMs);
    await promise;
    clearTimeout(timer);
  }

  #onEmpty: () => void = () => {};

  #pool(deploymentId: string): DeploymentPool {
    let pool = this.#pools.get(deploymentId);
    if (pool === undefined) {
      pool = new DeploymentPool(deploymentId, this.#options, () => {
        this.#pools.delete(deploymentId);
        if (this.#pools.size === 0) this.#onEmpty();
      });
      this.#pools.set(deploymentId, pool);
    }
    return pool;
  }
}

function lost(reason: string): Outcome {
  return { type: "lost", reason, suspect: false };
}
